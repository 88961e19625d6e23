#include "config/kernel_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace roofline {
namespace {

class KernelChecker {
 public:
  explicit KernelChecker(const KernelDraft& draft) : draft_(draft) {}

  void check_expectation(const YamlValue& yaml, const std::vector<YamlMember>& members) const {
    const ExpectSpec& expect = draft_.spec.expect;
    if (draft_.spec.like != nullptr) {
      for (const char* key : {"expect", "same_as", "unverified", "tolerance", "work"}) {
        if (const YamlMember* member = find_member(members, key)) {
          member->name.fail(fmt::format("a kernel with 'like' takes '{}' from the op", key));
        }
      }
      for (const BufferSpec& buffer : draft_.spec.buffers) {
        if (buffer.workspace) continue;
        if (draft_.buffer_has_type.at(buffer.name) || !buffer.size.empty() || buffer.fill.place.line > 0) {
          buffer.place.fail(fmt::format("'{}' has the type, the size and the values that {} gives it", buffer.name,
                                        draft_.spec.like->name()));
        }
      }
      return;
    }
    if (const YamlMember* dtype = find_member(members, "dtype"))
      dtype->name.fail("types belong to the arguments (dtype there)");
    const bool formulas = !expect.formulas.empty() || !expect.files.empty();
    const int ways = (formulas ? 1 : 0) + (expect.same_as.empty() ? 0 : 1) + (expect.unverified ? 1 : 0);
    if (ways != 1) {
      yaml.fail(
          fmt::format("'{}' {}: expect, same_as, like or unverified", draft_.spec.name,
                      ways == 0 ? "must define its expected output by one of" : "defines its expected output twice"));
    }
    std::size_t outputs = 0;
    for (const BufferSpec& buffer : draft_.spec.buffers) {
      if (!draft_.buffer_has_type.at(buffer.name) || buffer.size.empty()) {
        buffer.place.fail(fmt::format("'{}' needs a dtype and a size", buffer.name));
      }
      if (buffer.workspace || !is_written(buffer.role)) continue;
      ++outputs;
      const bool expected = expect.formulas.contains(buffer.name) || expect.files.contains(buffer.name);
      if (formulas && !expected) expect.place.fail(fmt::format("no expected value of '{}'", buffer.name));
    }
    if (outputs == 0) yaml.fail(fmt::format("'{}' has no output", draft_.spec.name));
    for (const auto& [name, where] : draft_.expected) {
      const BufferSpec* buffer = draft_.spec.find_buffer(name);
      if (buffer == nullptr || buffer->workspace || !is_written(buffer->role))
        where.fail(fmt::format("'{}' is not an output", name));
    }
  }

  void check_names() const {
    std::set<std::string> seen;
    const auto unique = [&](const std::string& name, const Place& place) {
      if (!seen.insert(name).second) place.fail(fmt::format("'{}' is the name of two things", name));
    };
    for (const std::string& extent : draft_.spec.extents) unique(extent, draft_.spec.place);
    for (const DefineSpec& define : draft_.spec.defines) unique(define.name, define.place);
    std::vector<std::string> tensors;
    std::vector<std::string> inputs;
    for (const BufferSpec& buffer : draft_.spec.buffers) {
      unique(buffer.name, buffer.place);
      tensors.push_back(buffer.name);
      if (!buffer.workspace && is_read(buffer.role)) inputs.push_back(buffer.name);
    }
    if (draft_.spec.like == nullptr) {
      for (const auto& [name, where] : draft_.used_buffers) {
        if (draft_.spec.find_buffer(name) == nullptr) where.fail_unknown("buffer", name, tensors);
      }
    }
    const std::vector<std::string>& shape = draft_.spec.extents;
    std::vector<std::string> configured = shape;
    for (const DefineSpec& define : draft_.spec.defines) configured.push_back(define.name);
    for (const BufferSpec& buffer : draft_.spec.buffers)
      require_names(buffer.size, buffer.workspace ? with_threads(configured) : shape);
    for (const auto& [pipe, formula] : draft_.spec.work.flops) require_names(formula, shape);
    for (const auto& [pipe, formula] : draft_.spec.work.uncounted) require_names(formula, shape);
    require_names(draft_.spec.work.read, shape);
    require_names(draft_.spec.work.write, shape);
    std::vector<std::string> elements = shape;
    elements.emplace_back("i");
    for (const BufferSpec& buffer : draft_.spec.buffers) {
      require_names(buffer.fill.first, buffer.fill.kind == InputFill::Kind::formula ? elements : shape);
      require_names(buffer.fill.second, shape);
    }
    elements.insert(elements.end(), inputs.begin(), inputs.end());
    for (const auto& [output, formula] : draft_.spec.expect.formulas) require_names(formula, elements, inputs);
    for (const StepSpec& step : draft_.spec.steps) check_step(step, configured);
  }

 private:
  /// Without a shape, any name may be an extent.
  void require_names(const Formula& formula, std::vector<std::string> values,
                     const std::vector<std::string>& tensors = {}) const {
    if (!draft_.has_shape) {
      const std::vector<std::string> names = formula.names();
      values.insert(values.end(), names.begin(), names.end());
    }
    formula.require_known(values, tensors);
  }

  std::vector<std::string> with_threads(std::vector<std::string> names) const {
    if (draft_.spec.device() == DeviceKind::cpu) names.insert(names.end(), {"thread", "threads"});
    return names;
  }

  /// Threads that are called with the same arguments would each do all of the work.
  void require_thread_index(const StepSpec& step) const {
    const std::vector<std::string>& threads = step.launch.threads;
    const bool several = std::any_of(threads.begin(), threads.end(),
                                     [](const std::string& text) { return text != kOwnThreads && text != "1"; });
    if (!several || uses_thread_index(step)) return;
    step.launch.place.fail(fmt::format(
        "'{}' is called by several threads, and no argument tells them apart: each would do all of the work. "
        "Pass {{ scalar: thread, dtype: int32 }} and {{ scalar: threads, dtype: int32 }}, or use 'threads: "
        "own' if the kernel starts its threads itself",
        step.entry));
  }

  static bool uses_thread_index(const StepSpec& step) {
    const auto uses = [](const Formula& formula) {
      const std::vector<std::string> names = formula.names();
      return std::any_of(names.begin(), names.end(),
                         [](const std::string& name) { return name == "thread" || name == "threads"; });
    };
    return std::any_of(step.arguments.begin(), step.arguments.end(), [&](const ArgumentSpec& argument) {
      if (const auto* pointer = std::get_if<PointerSpec>(&argument.value)) return uses(pointer->offset);
      if (const auto* scalar = std::get_if<ScalarSpec>(&argument.value)) return uses(scalar->value);
      const auto* structure = std::get_if<StructSpec>(&argument.value);
      return structure != nullptr && std::any_of(structure->fields.begin(), structure->fields.end(),
                                                 [&](const ScalarSpec& field) { return uses(field.value); });
    });
  }

  void check_step(const StepSpec& step, std::vector<std::string> names) const {
    const auto check = [&](const std::vector<Extent3>& extents) {
      for (const Extent3& extent : extents) {
        for (const Formula& formula : extent) require_names(formula, names);
      }
    };
    check(step.launch.block);
    if (draft_.spec.device() == DeviceKind::cuda) names.insert(names.end(), {"block", "block_y", "block_z"});
    check(step.launch.grid);
    if (draft_.spec.device() == DeviceKind::cuda) names.insert(names.end(), {"grid", "grid_y", "grid_z"});
    check(step.launch.cluster);
    for (const Formula& formula : step.launch.shared) require_names(formula, names);
    if (draft_.spec.device() == DeviceKind::cuda) names.emplace_back("shared");
    names = with_threads(std::move(names));
    require_thread_index(step);
    for (const ArgumentSpec& argument : step.arguments) {
      if (const auto* pointer = std::get_if<PointerSpec>(&argument.value)) require_names(pointer->offset, names);
      if (const auto* scalar = std::get_if<ScalarSpec>(&argument.value)) require_names(scalar->value, names);
      if (const auto* structure = std::get_if<StructSpec>(&argument.value)) {
        for (const ScalarSpec& field : structure->fields) require_names(field.value, names);
      }
      if (const auto* map = std::get_if<TensorMapSpec>(&argument.value)) {
        for (const Formula* formula : {&map->rows, &map->columns, &map->box_rows, &map->box_columns})
          require_names(*formula, names);
      }
    }
  }

  const KernelDraft& draft_;
};

}  // namespace

void check_expectation(const KernelDraft& draft, const YamlValue& yaml, const std::vector<YamlMember>& members) {
  KernelChecker(draft).check_expectation(yaml, members);
}

void check_names(const KernelDraft& draft) { KernelChecker(draft).check_names(); }

}  // namespace roofline
