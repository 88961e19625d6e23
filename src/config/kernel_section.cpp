// One kernel after the other, its keys checked one by one, and then (kernel_checks.hpp) what holds of all of them.
#include "config/kernel_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "config/kernel_buffers.hpp"
#include "config/kernel_checks.hpp"
#include "config/kernel_draft.hpp"
#include "config/kernel_launches.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

using Keys = std::vector<std::string>;

/// Reads one kernel. Formulas are checked when all of it is known.
class KernelReader {
 public:
  /// `extents`: the names of its shape; std::nullopt if no workload has one.
  KernelReader(const YamlMember& member, fs::path folder, std::optional<Keys> extents) : yaml_(member.value) {
    draft_.folder = std::move(folder);
    draft_.has_shape = extents.has_value();
    draft_.spec.name = read_identifier(member.name, "the kernel's name");
    if (find_op(draft_.spec.name) != nullptr) {
      member.name.fail(fmt::format(
          "'{0}' is an op of roofline's: choose another name (and 'like: {0}' to compare with it)", draft_.spec.name));
    }
    if (extents) draft_.spec.extents = *std::move(extents);
    draft_.spec.place = member.name.origin();
  }

  KernelSpec read() {
    const std::vector<YamlMember> members = yaml_.members("a kernel");
    require_known(
        members,
        {"source", "compiler", "options", "include", "define", "entry", "arguments", "buffers", "launch", "steps",
         "work", "expect", "same_as", "unverified", "tolerance", "like", "dtype", "choose", "time_limit"},
        "a kernel");
    for (const YamlMember& member : members) read_member(member);
    if (find_member(members, "source") != nullptr) read_triton(find_member(members, "source")->value);
    if (find_member(members, "source") == nullptr) yaml_.fail(fmt::format("'{}' needs a 'source'", draft_.spec.name));
    if (draft_.spec.like != nullptr) add_extents_of_op();
    read_steps(draft_, yaml_, members);
    check_expectation(draft_, yaml_, members);
    check_names(draft_);
    return std::move(draft_.spec);
  }

 private:
  void read_member(const YamlMember& member) {
    const YamlValue& value = member.value;
    if (member.key == "source") read_source(value);
    if (member.key == "compiler") read_compiler(value);
    if (member.key == "options") {
      for (const YamlValue& option : value.elements("options")) draft_.spec.options.push_back(option.text("an option"));
    }
    if (member.key == "include") {
      for (const YamlValue& folder : value.elements("include")) {
        draft_.spec.include.push_back(read_path(draft_, folder, "include folder"));
        std::error_code hidden;
        if (!fs::is_directory(draft_.spec.include.back(), hidden))
          folder.fail(fmt::format("include folder '{}' is not a folder", draft_.spec.include.back().string()));
      }
    }
    if (member.key == "define") read_defines(value);
    if (member.key == "buffers") {
      for (const YamlValue& buffer : value.elements("buffers")) read_buffer(draft_, buffer, buffer.members("a buffer"));
    }
    if (member.key == "work") read_work(value);
    if (member.key == "like") draft_.spec.like = &read_op(value, "like");
    if (member.key == "dtype") {
      for (const YamlValue& dtype : value.elements("dtype")) draft_.spec.dtypes.push_back(read_dtype(dtype));
    }
    if (member.key == "expect") read_expect(value);
    if (member.key == "same_as") draft_.spec.expect.same_as = value.text("same_as");
    if (member.key == "unverified") draft_.spec.expect.unverified = read_flag(value, "unverified");
    if (member.key == "tolerance") read_tolerance(value);
    if (member.key == "time_limit") draft_.spec.time_limit_s = read_number(value, "time_limit (seconds)", 1);
    if (member.key == "choose") {
      if (value.text("choose") != "fastest") value.fail("choose can only be 'fastest'");
      draft_.spec.choose_fastest = true;
    }
  }

  void read_source(const YamlValue& yaml) {
    draft_.spec.source = read_file_path(draft_, yaml, "source");
    draft_.spec.source_name = yaml.text("source");
    const auto kind = source_kind(draft_.spec.source);
    if (!kind) {
      yaml.fail(
          fmt::format("'{}' has an unknown extension: .c, .cpp and .so are for the CPU, .cu, .ptx, .cubin and "
                      ".fatbin for CUDA",
                      draft_.spec.source.filename().string()));
    }
    draft_.spec.kind = *kind;
  }

  /// The part of the launch that Triton compiled into the cubin, from the file beside it.
  void read_triton(const YamlValue& source) {
    draft_.triton = triton_entry(draft_.spec.source);
    if (!draft_.triton) return;
    if (draft_.triton->has_descriptors) {
      source.fail("this Triton kernel takes tensor descriptors, which only Triton can make; pass pointers instead");
    }
    draft_.spec.scratch_bytes = draft_.triton->scratch_bytes;
  }

  void read_compiler(const YamlValue& yaml) {
    const std::string given = yaml.text("compiler");
    if (given == "nvrtc") {
      draft_.spec.compiler = CudaCompiler::nvrtc;
    } else if (given == "nvcc") {
      draft_.spec.compiler = CudaCompiler::nvcc;
    } else if (given != "auto") {
      yaml.fail_unknown("compiler", given, {"auto", "nvrtc", "nvcc"}, "(a CPU's is named by $CC and $CXX)");
    }
  }

  void read_defines(const YamlValue& yaml) {
    for (const YamlMember& member : yaml.members("define")) {
      DefineSpec define{.name = read_identifier(member.name, "a define"), .values = {}, .place = member.name.origin()};
      for (const YamlValue& value : member.value.elements(member.key)) define.values.push_back(value.text(member.key));
      draft_.spec.defines.push_back(std::move(define));
    }
  }

  void read_work(const YamlValue& yaml) {
    draft_.spec.has_work = true;
    const std::vector<YamlMember> members = yaml.members("work");
    require_known(members, {"flops", "uncounted", "read", "write"}, "work");
    for (const YamlMember& member : members) {
      if (member.key == "read") draft_.spec.work.read = read_formula(member.value, "read");
      if (member.key == "write") draft_.spec.work.write = read_formula(member.value, "write");
      if (member.key != "flops" && member.key != "uncounted") continue;
      auto& pipes = member.key == "flops" ? draft_.spec.work.flops : draft_.spec.work.uncounted;
      for (const YamlMember& amount : member.value.members(member.key)) {
        const auto pipe = parse_pipe(amount.key);
        if (!pipe) amount.name.fail_unknown("pipe", amount.key, Keys(pipe_names().begin(), pipe_names().end()));
        pipes[*pipe] = read_formula(amount.value, amount.key);
      }
    }
  }

  void read_expect(const YamlValue& yaml) {
    draft_.spec.expect.place = yaml.origin();
    for (const YamlMember& member : yaml.members("expect")) {
      draft_.expected.emplace_back(member.key, member.name);
      if (!member.value.is_map()) {
        draft_.spec.expect.formulas[member.key] = read_formula(member.value, member.key);
        continue;
      }
      const std::vector<YamlMember> file = member.value.members(member.key);
      require_known(file, {"npy"}, "expect");
      draft_.spec.expect.files[member.key] = read_file_path(draft_, file.front().value, "npy");
    }
  }

  void read_tolerance(const YamlValue& yaml) {
    if (!yaml.is_map()) {
      draft_.spec.relative_tolerance = read_number(yaml, "tolerance", 0);
      return;
    }
    const std::vector<YamlMember> members = yaml.members("tolerance");
    require_known(members, {"relative", "magnitude"}, "tolerance");
    for (const YamlMember& member : members) {
      (member.key == "relative" ? draft_.spec.relative_tolerance : draft_.spec.magnitude) =
          read_number(member.value, member.key, 0);
    }
    if (draft_.spec.magnitude && !(*draft_.spec.magnitude > 0))
      yaml.fail("magnitude, the typical size of an output, must be more than 0");
  }

  void add_extents_of_op() {
    draft_.spec.extents.clear();
    for (const ShapeParameter& parameter : draft_.spec.like->parameters())
      draft_.spec.extents.push_back(parameter.name);
    draft_.has_shape = true;
    if (draft_.spec.dtypes.empty()) draft_.spec.dtypes = {DType::fp32};
  }

  YamlValue yaml_;
  KernelDraft draft_;
};

/// The names that the shapes of a kernel's workloads have, in the order of the file; std::nullopt if no workload runs
/// it.
std::optional<Keys> extents_of(const std::string& kernel, const YamlValue& workloads) {
  std::optional<Keys> names;
  const auto add = [&](const YamlValue& shapes) {
    for (const YamlValue& shape : shapes.elements("shape")) {
      for (const YamlMember& extent : shape.members("shape")) {
        if (std::find(names->begin(), names->end(), extent.key) != names->end()) continue;
        names->push_back(read_identifier(extent.name, "an extent"));
      }
    }
  };
  for (const YamlValue& workload : workloads.elements("workloads")) {
    const std::vector<YamlMember> members = workload.members("a workload");
    const YamlMember* named = find_member(members, "kernel");
    if (named == nullptr || named->value.text("kernel") != kernel) continue;
    if (!names) names.emplace();
    if (const YamlMember* shape = find_member(members, "shape")) add(shape->value);
    for (const char* device : {"cpu", "cuda"}) {
      const YamlMember* changes = find_member(members, device);
      if (changes == nullptr) continue;
      const std::vector<YamlMember> changed = changes->value.members(device);
      if (const YamlMember* shape = find_member(changed, "shape")) add(shape->value);
    }
  }
  return names;
}

/// A kernel that no workload runs has the shapes of one that must equal it (`same_as`).
std::optional<Keys> extents_of_compared(const std::string& kernel, const std::vector<YamlMember>& kernels,
                                        const YamlValue& workloads) {
  for (const YamlMember& other : kernels) {
    if (!other.value.is_map()) continue;
    const std::vector<YamlMember> keys = other.value.members("a kernel");
    const YamlMember* same_as = find_member(keys, "same_as");
    if (same_as == nullptr || same_as->value.text("same_as") != kernel) continue;
    if (std::optional<Keys> extents = extents_of(other.key, workloads)) return extents;
  }
  return std::nullopt;
}

/// Before anything is read that follows from shapes: the kernels that workloads name are there.
void require_kernels(const std::vector<YamlMember>& kernels, const YamlValue& workloads) {
  Keys names;
  for (const YamlMember& kernel : kernels) names.push_back(kernel.key);
  for (const YamlValue& workload : workloads.elements("workloads")) {
    const std::vector<YamlMember> members = workload.members("a workload");
    const YamlMember* named = find_member(members, "kernel");
    if (named == nullptr) continue;
    const std::string given = named->value.text("kernel");
    const bool known = std::find(names.begin(), names.end(), given) != names.end();
    if (!known) named->value.fail_unknown("kernel", given, names, "(see 'kernels' in this suite)");
  }
}

}  // namespace

SuiteKernels read_kernels(const YamlValue& yaml, const YamlValue& workloads) {
  const fs::path folder = fs::path(yaml.origin().file).parent_path();
  SuiteKernels kernels;
  const std::vector<YamlMember> members = yaml.members("kernels");
  require_kernels(members, workloads);
  for (const YamlMember& member : members) {
    std::optional<Keys> extents = extents_of(member.key, workloads);
    if (!extents) extents = extents_of_compared(member.key, members, workloads);
    SuiteKernel& kernel = kernels[member.key];
    kernel.used = extents.has_value();
    KernelReader reader(member, folder.empty() ? fs::current_path() : fs::absolute(folder), std::move(extents));
    kernel.spec = std::make_shared<const KernelSpec>(reader.read());
  }
  for (auto& [name, kernel] : kernels) {
    if (kernel.spec->like != nullptr) continue;
    std::shared_ptr<const KernelSpec> right;
    if (const std::string& other = kernel.spec->expect.same_as; !other.empty()) {
      const auto found = kernels.find(other);
      const bool own = found == kernels.end() || other == name || found->second.spec->like != nullptr;
      if (own || found->second.spec->device() != kernel.spec->device()) {
        kernel.spec->place.fail(fmt::format("'{}': same_as '{}' is not another kernel of this suite for {}", name,
                                            other, to_string(kernel.spec->device())));
      }
      right = found->second.spec;
    }
    kernel.op = std::make_shared<const UserOp>(kernel.spec, std::move(right));
  }
  return kernels;
}

}  // namespace roofline
