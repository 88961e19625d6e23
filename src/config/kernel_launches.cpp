// What a suite leaves out of the launch of a Triton kernel is in the file beside its cubin.
#include "config/kernel_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "config/kernel_buffers.hpp"

namespace roofline {
namespace {

class StepReader {
 public:
  StepReader(KernelDraft& draft, const YamlValue& yaml) : draft_(draft), yaml_(yaml) {}

  void read(const std::vector<YamlMember>& members) {
    const YamlMember* steps = find_member(members, "steps");
    const YamlMember* entry = find_member(members, "entry");
    if (draft_.triton && steps == nullptr) {
      draft_.spec.steps.push_back(read_step(yaml_, members, true));
      return;
    }
    if ((steps == nullptr) == (entry == nullptr)) {
      yaml_.fail(fmt::format("'{}' needs {}", draft_.spec.name,
                             steps == nullptr ? "an 'entry' (the name of its function)" : "either 'entry' or 'steps'"));
    }
    if (steps == nullptr) {
      draft_.spec.steps.push_back(read_step(yaml_, members, true));
      return;
    }
    for (const char* key : {"arguments", "launch"}) {
      if (const YamlMember* member = find_member(members, key))
        member->name.fail("with 'steps', each step has its own");
    }
    for (const YamlValue& step : steps->value.elements("steps")) {
      const std::vector<YamlMember> own = step.members("a step");
      require_known(own, {"entry", "arguments", "launch"}, "a step");
      if (find_member(own, "entry") == nullptr) step.fail("a step needs an 'entry'");
      draft_.spec.steps.push_back(read_step(step, own, false));
    }
  }

 private:
  /// What the suite leaves out of the launch of a Triton kernel.
  void complete_by_triton(StepSpec& step) const {
    const auto number = [&](std::int64_t value) { return Formula(std::to_string(value), step.place); };
    if (step.launch.block.empty()) step.launch.block.push_back({number(draft_.triton->threads), {}, {}});
    if (step.launch.shared.empty()) step.launch.shared.push_back(number(draft_.triton->shared_bytes));
    if (step.launch.cluster.empty() && draft_.triton->cluster > 1)
      step.launch.cluster.push_back({number(draft_.triton->cluster), {}, {}});
    step.launch.cooperative = step.launch.cooperative || draft_.triton->cooperative;
  }

  StepSpec read_step(const YamlValue& yaml, const std::vector<YamlMember>& members, bool sweeps) {
    StepSpec step;
    step.place = yaml.origin();
    const YamlMember* entry = find_member(members, "entry");
    step.entry = entry != nullptr ? entry->value.text("entry") : draft_.triton->name;
    if (const YamlMember* arguments = find_member(members, "arguments")) {
      if (!arguments->value.is_list()) arguments->value.fail("arguments must be a list");
      for (const YamlValue& argument : arguments->value.elements("arguments"))
        step.arguments.push_back(read_argument(argument));
    }
    if (const YamlMember* launch = find_member(members, "launch")) step.launch = read_launch(launch->value, sweeps);
    if (draft_.triton) complete_by_triton(step);
    const bool cuda = draft_.spec.device() == DeviceKind::cuda;
    if (cuda && (step.launch.grid.empty() || step.launch.block.empty())) {
      yaml.fail("a kernel on a GPU needs launch: { grid: …, block: … }");
    }
    if (!cuda && !(step.launch.grid.empty() && step.launch.block.empty() && step.launch.cluster.empty() &&
                   step.launch.shared.empty())) {
      step.launch.place.fail("a CPU's kernel has threads only (launch: { threads: all })");
    }
    if (cuda && !step.launch.threads.empty())
      step.launch.place.fail("a GPU's kernel has a grid and a block, not threads");
    return step;
  }

  ArgumentSpec read_argument(const YamlValue& yaml) {
    ArgumentSpec argument;
    argument.place = yaml.origin();
    const std::vector<YamlMember> members = yaml.members("an argument");
    const auto has = [&](std::string_view key) { return find_member(members, key); };
    if (const YamlMember* pointer = has("pointer")) {
      require_known(members, {"pointer", "offset"}, "a pointer");
      PointerSpec spec{.buffer = pointer->value.text("pointer"), .offset = {}};
      if (const YamlMember* offset = has("offset")) spec.offset = read_formula(offset->value, "offset");
      argument.value = std::move(spec);
      draft_.used_buffers.push_back({std::get<PointerSpec>(argument.value).buffer, pointer->value});
    } else if (has("scalar")) {
      argument.value = read_scalar(yaml, members);
    } else if (const YamlMember* structure = has("struct")) {
      require_known(members, {"struct", "type"}, "a structure");
      StructSpec spec;
      if (!structure->value.is_list()) structure->value.fail("a structure is a list of scalars");
      for (const YamlValue& field : structure->value.elements("struct")) {
        spec.fields.push_back(read_scalar(field, field.members("a field")));
      }
      if (const YamlMember* type = has("type")) spec.type = type->value.text("type");
      argument.value = std::move(spec);
    } else if (const YamlMember* map = has("tensor_map")) {
      argument.value = read_tensor_map(*map, members);
    } else {
      const bool known = std::any_of(members.begin(), members.end(), [](const YamlMember& m) {
        return m.key == "input" || m.key == "output" || m.key == "inout" || m.key == "workspace";
      });
      if (!known) {
        yaml.fail("an argument is one of input, output, inout, workspace, pointer, scalar, struct and tensor_map");
      }
      read_buffer(draft_, yaml, members);
      argument.value = PointerSpec{.buffer = draft_.spec.buffers.back().name, .offset = {}};
    }
    return argument;
  }

  ScalarSpec read_scalar(const YamlValue& yaml, const std::vector<YamlMember>& members) {
    require_known(members, {"scalar", "dtype"}, "a scalar");
    const YamlMember* value = find_member(members, "scalar");
    const YamlMember* dtype = find_member(members, "dtype");
    if (value == nullptr || dtype == nullptr)
      yaml.fail("a scalar needs a value and a type: { scalar: n, dtype: int64 }");
    const std::string given = dtype->value.text("dtype");
    const auto type = parse_scalar_type(given);
    if (!type) dtype->value.fail_unknown("type of a scalar", given, scalar_type_names());
    return {.type = *type, .value = read_formula(value->value, "scalar")};
  }

  TensorMapSpec read_tensor_map(const YamlMember& map, const std::vector<YamlMember>& members) {
    require_known(members, {"tensor_map", "rows", "columns", "box_rows", "box_columns", "swizzle"}, "a tensor map");
    TensorMapSpec spec{
        .buffer = map.value.text("tensor_map"), .rows = {}, .columns = {}, .box_rows = {}, .box_columns = {}};
    draft_.used_buffers.push_back({spec.buffer, map.value});
    for (const auto& [key, formula] : {std::pair("rows", &spec.rows),
                                       {"columns", &spec.columns},
                                       {"box_rows", &spec.box_rows},
                                       {"box_columns", &spec.box_columns}}) {
      const YamlMember* member = find_member(members, key);
      if (member == nullptr) map.name.fail(fmt::format("a tensor map needs '{}'", key));
      *formula = read_formula(member->value, key);
    }
    if (const YamlMember* swizzle = find_member(members, "swizzle")) {
      const std::int64_t bytes = swizzle->value.integer("swizzle", 0, 128);
      if (bytes != 0 && bytes != 128) swizzle->value.fail("swizzle is 0 or 128 (bytes)");
      spec.swizzle_128 = bytes == 128;
    }
    return spec;
  }

  /// 128, or { x: 16, y: 16 }; a list tries each.
  std::vector<Extent3> read_extents(const YamlMember& member, bool sweeps) {
    std::vector<Extent3> choices;
    for (const YamlValue& element : member.value.elements(member.key)) {
      Extent3 extent;
      if (element.is_map()) {
        const std::vector<YamlMember> axes = element.members(member.key);
        require_known(axes, {"x", "y", "z"}, member.key);
        for (const YamlMember& axis : axes)
          extent.at(static_cast<std::size_t>(axis.key[0] - 'x')) = read_formula(axis.value, axis.key);
      } else {
        extent[0] = read_formula(element, member.key);
      }
      choices.push_back(std::move(extent));
    }
    if (!sweeps && choices.size() > 1) member.value.fail("with 'steps', alternatives are lists in 'define'");
    return choices;
  }

  LaunchSpec read_launch(const YamlValue& yaml, bool sweeps) {
    const std::vector<YamlMember> members = yaml.members("launch");
    require_known(members, {"grid", "block", "cluster", "shared", "cooperative", "threads"}, "launch");
    LaunchSpec launch;
    launch.place = yaml.origin();
    for (const YamlMember& member : members) {
      if (member.key == "grid") launch.grid = read_extents(member, sweeps);
      if (member.key == "block") launch.block = read_extents(member, sweeps);
      if (member.key == "cluster") launch.cluster = read_extents(member, sweeps);
      if (member.key == "shared") {
        for (const YamlValue& value : member.value.elements("shared"))
          launch.shared.push_back(read_formula(value, "shared"));
        if (!sweeps && launch.shared.size() > 1) member.value.fail("with 'steps', alternatives are lists in 'define'");
      }
      if (member.key == "cooperative") launch.cooperative = read_flag(member.value, "cooperative");
      if (member.key == "threads") {
        for (const YamlValue& value : member.value.elements("threads")) {
          const std::string text = value.text("threads");
          if (text != kAllThreads && text != kOwnThreads) value.integer("threads", 1, 4096);
          launch.threads.push_back(value.text("threads"));
        }
        if (!sweeps && launch.threads.size() > 1) member.value.fail("with 'steps', alternatives are lists in 'define'");
      }
    }
    return launch;
  }

  KernelDraft& draft_;
  const YamlValue& yaml_;
};

}  // namespace

void read_steps(KernelDraft& draft, const YamlValue& yaml, const std::vector<YamlMember>& members) {
  StepReader(draft, yaml).read(members);
}

}  // namespace roofline
