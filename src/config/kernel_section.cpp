// One kernel after the other, its keys checked one by one, and then that every name in its formulas is known.
#include "config/kernel_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>

#include "config/triton_entry.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

using Keys = std::vector<std::string>;

bool is_identifier(const std::string& name) {
  return !name.empty() && starts_name(name[0]) && std::all_of(name.begin(), name.end(), is_in_name);
}

/// A name that formulas will use.
std::string read_identifier(const YamlValue& yaml, std::string_view what) {
  static const Keys reserved = {"i",      "block",   "block_y", "block_z", "grid", "grid_y", "grid_z", "shared",
                                "thread", "threads", "sin",     "cos",     "tan",  "asin",   "acos",   "atan",
                                "sinh",   "cosh",    "tanh",    "exp",     "ln",   "log",    "log2",   "log10",
                                "sqrt",   "abs",     "rint",    "sign",    "min",  "max",    "sum",    "avg",
                                "ceil",   "floor",   "round",   "erf",     "Ki",   "Mi",     "Gi"};
  std::string name = yaml.text(what);
  if (!is_identifier(name))
    yaml.fail(fmt::format("{} '{}' must be a letter, and then letters, digits and '_'", what, name));
  if (std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
    yaml.fail(fmt::format("'{}' means something else in formulas: choose another name", name));
  }
  return name;
}

Formula read_formula(const YamlValue& yaml, std::string_view what) { return {yaml.text(what), yaml.origin()}; }

bool read_flag(const YamlValue& yaml, std::string_view what) {
  const std::string text = yaml.text(what);
  if (text != "true" && text != "false") yaml.fail(fmt::format("{} must be true or false, not '{}'", what, text));
  return text == "true";
}

double read_number(const YamlValue& yaml, std::string_view what, double minimum) {
  const std::string text = yaml.text(what);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    yaml.fail(fmt::format("{} must be a number, not '{}'", what, text));
  if (!std::isfinite(value)) yaml.fail(fmt::format("{} must be finite, not {}", what, text));
  if (!(value >= minimum)) yaml.fail(fmt::format("{} must be at least {}, not {}", what, minimum, text));
  return value;
}

/// Reads one kernel. Formulas are checked when all of it is known.
class KernelReader {
 public:
  /// `extents`: the names of its shape; nothing where no workload has one.
  KernelReader(const YamlMember& member, fs::path folder, std::optional<Keys> extents)
      : yaml_(member.value), folder_(std::move(folder)), has_shape_(extents.has_value()) {
    spec_.name = read_identifier(member.name, "the kernel's name");
    if (find_op(spec_.name) != nullptr) {
      member.name.fail(fmt::format(
          "'{0}' is an op of roofline's: choose another name (and 'like: {0}' to compare with it)", spec_.name));
    }
    if (extents) spec_.extents = *std::move(extents);
    spec_.place = member.name.origin();
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
    if (find_member(members, "source") == nullptr) yaml_.fail(fmt::format("'{}' needs a 'source'", spec_.name));
    if (spec_.like != nullptr) add_extents_of_op();
    read_steps(members);
    check_expectation(members);
    check_names();
    return std::move(spec_);
  }

 private:
  fs::path read_path(const YamlValue& yaml, std::string_view what) {
    const std::string text = yaml.text(what);
    std::error_code hidden;
    const fs::path path = fs::weakly_canonical(folder_ / text, hidden);
    if (hidden) yaml.fail(fmt::format("{} '{}' can't be read: {}", what, text, hidden.message()));
    if (!fs::exists(path, hidden)) yaml.fail(fmt::format("{} '{}' does not exist ({})", what, text, path.string()));
    return path;
  }

  fs::path read_file_path(const YamlValue& yaml, std::string_view what) {
    fs::path path = read_path(yaml, what);
    std::error_code hidden;
    if (!fs::is_regular_file(path, hidden)) yaml.fail(fmt::format("{} '{}' is no file", what, path.string()));
    return path;
  }

  void read_member(const YamlMember& member) {
    const YamlValue& value = member.value;
    if (member.key == "source") read_source(value);
    if (member.key == "compiler") read_compiler(value);
    if (member.key == "options") {
      for (const YamlValue& option : value.elements("options")) spec_.options.push_back(option.text("an option"));
    }
    if (member.key == "include") {
      for (const YamlValue& folder : value.elements("include")) {
        spec_.include.push_back(read_path(folder, "include folder"));
        std::error_code hidden;
        if (!fs::is_directory(spec_.include.back(), hidden))
          folder.fail(fmt::format("include folder '{}' is no folder", spec_.include.back().string()));
      }
    }
    if (member.key == "define") read_defines(value);
    if (member.key == "buffers") {
      for (const YamlValue& buffer : value.elements("buffers")) read_buffer(buffer, buffer.members("a buffer"));
    }
    if (member.key == "work") read_work(value);
    if (member.key == "like") read_like(value);
    if (member.key == "dtype") {
      for (const YamlValue& dtype : value.elements("dtype")) spec_.dtypes.push_back(read_dtype(dtype));
    }
    if (member.key == "expect") read_expect(value);
    if (member.key == "same_as") spec_.expect.same_as = value.text("same_as");
    if (member.key == "unverified") spec_.expect.unverified = read_flag(value, "unverified");
    if (member.key == "tolerance") read_tolerance(value);
    if (member.key == "time_limit") spec_.time_limit_s = read_number(value, "time_limit (seconds)", 1);
    if (member.key == "choose") {
      if (value.text("choose") != "fastest") value.fail("choose can only be 'fastest'");
      spec_.choose_fastest = true;
    }
  }

  void read_source(const YamlValue& yaml) {
    spec_.source = read_file_path(yaml, "source");
    spec_.source_name = yaml.text("source");
    const auto kind = source_kind(spec_.source);
    if (!kind) {
      yaml.fail(
          fmt::format("'{}' ends in nothing that is known: .c, .cpp and .so are for the CPU, .cu, .ptx, .cubin and "
                      ".fatbin for CUDA",
                      spec_.source.filename().string()));
    }
    spec_.kind = *kind;
  }

  /// Triton says in a file beside its cubin what of the launch is compiled into it.
  void read_triton(const YamlValue& source) {
    triton_ = triton_entry(spec_.source);
    if (!triton_) return;
    if (triton_->has_descriptors) {
      source.fail("this Triton kernel takes tensor descriptors, which only Triton can make; pass pointers instead");
    }
    spec_.scratch_bytes = triton_->scratch_bytes;
  }

  /// What the suite leaves out of the launch of a Triton kernel.
  void complete_by_triton(StepSpec& step) const {
    const auto number = [&](std::int64_t value) { return Formula(std::to_string(value), step.place); };
    if (step.launch.block.empty()) step.launch.block.push_back({number(triton_->threads), {}, {}});
    if (step.launch.shared.empty()) step.launch.shared.push_back(number(triton_->shared_bytes));
    if (step.launch.cluster.empty() && triton_->cluster > 1)
      step.launch.cluster.push_back({number(triton_->cluster), {}, {}});
    step.launch.cooperative = step.launch.cooperative || triton_->cooperative;
  }

  void read_compiler(const YamlValue& yaml) {
    const std::string given = yaml.text("compiler");
    if (given == "nvrtc") {
      spec_.compiler = CudaCompiler::nvrtc;
    } else if (given == "nvcc") {
      spec_.compiler = CudaCompiler::nvcc;
    } else if (given != "auto") {
      yaml.fail_unknown("compiler", given, {"auto", "nvrtc", "nvcc"}, "(a CPU's is named by $CC and $CXX)");
    }
  }

  void read_defines(const YamlValue& yaml) {
    for (const YamlMember& member : yaml.members("define")) {
      DefineSpec define{.name = read_identifier(member.name, "a define"), .values = {}, .place = member.name.origin()};
      for (const YamlValue& value : member.value.elements(member.key)) define.values.push_back(value.text(member.key));
      spec_.defines.push_back(std::move(define));
    }
  }

  /// - { input: x, dtype: fp32, size: n, values: normal }
  void read_buffer(const YamlValue& yaml, const std::vector<YamlMember>& members) {
    require_known(members, {"input", "output", "inout", "workspace", "dtype", "size", "values"}, "a buffer");
    BufferSpec buffer;
    buffer.place = yaml.origin();
    const YamlMember* named = nullptr;
    for (const auto& [key, role] : {std::pair("input", TensorRole::input),
                                    {"output", TensorRole::output},
                                    {"inout", TensorRole::inout},
                                    {"workspace", TensorRole::output}}) {
      const YamlMember* member = find_member(members, key);
      if (member == nullptr) continue;
      if (named != nullptr) member->name.fail("a buffer is one of input, output, inout and workspace");
      named = member;
      buffer.role = role;
      buffer.workspace = std::string_view(key) == "workspace";
    }
    if (named == nullptr) yaml.fail("a buffer needs a name: input, output, inout or workspace");
    buffer.name = read_identifier(named->value, "a buffer's name");
    if (spec_.find_buffer(buffer.name) != nullptr)
      named->value.fail(fmt::format("there is a buffer '{}' already", buffer.name));
    const YamlMember* dtype = find_member(members, "dtype");
    const YamlMember* size = find_member(members, "size");
    if (dtype != nullptr) buffer.dtype = read_dtype(dtype->value);
    if (size != nullptr) buffer.size = read_formula(size->value, "size");
    buffer_has_type_[buffer.name] = dtype != nullptr;
    if (const YamlMember* values = find_member(members, "values")) {
      if (!is_read(buffer.role)) values->name.fail("only what is read has values before the first launch");
      buffer.fill = read_fill(values->value);
    }
    spec_.buffers.push_back(std::move(buffer));
  }

  InputFill read_fill(const YamlValue& yaml) {
    using Kind = InputFill::Kind;
    if (yaml.is_map()) return read_described_fill(yaml);
    InputFill fill{.place = yaml.origin()};
    const std::string given = yaml.text("values");
    if (given == "normal") {
      fill.kind = Kind::normal;
    } else if (given == "ones" || given == "zeros") {
      fill.kind = Kind::constant;
      fill.first = Formula(given == "ones" ? "1" : "0", fill.place);
    } else if (given == "permutation") {
      fill.kind = Kind::permutation;
    } else if (given != "uniform") {
      yaml.fail_unknown("values", given, {"uniform", "normal", "ones", "zeros", "permutation"},
                        "(or range: [0, 1], constant: 3, formula: i % 7, npy: x.npy)");
    }
    return fill;
  }

  /// { range: [0, n - 1] }
  InputFill read_described_fill(const YamlValue& yaml) {
    using Kind = InputFill::Kind;
    static const std::map<std::string, Kind> kinds = {{"range", Kind::range},
                                                      {"sorted", Kind::sorted},
                                                      {"constant", Kind::constant},
                                                      {"mask", Kind::mask},
                                                      {"formula", Kind::formula},
                                                      {"csr_rows", Kind::csr_rows},
                                                      {"csr_columns", Kind::csr_columns},
                                                      {"npy", Kind::npy}};
    const std::vector<YamlMember> members = yaml.members("values");
    Keys known;
    for (const auto& [key, kind] : kinds) known.push_back(key);
    require_known(members, known, "values");
    if (members.size() != 1) yaml.fail(fmt::format("values are one of {}", fmt::join(known, ", ")));
    const auto& [key, name, value] = members.front();
    InputFill fill{.kind = kinds.at(key), .place = yaml.origin()};
    if (fill.kind == Kind::npy) {
      fill.file = read_file_path(value, key);
    } else if (fill.kind == Kind::csr_columns) {
      fill.rows = value.text(key);
    } else if (fill.kind == Kind::range || fill.kind == Kind::sorted || fill.kind == Kind::csr_rows) {
      const auto two = value.elements(key);
      if (two.size() != 2)
        value.fail(fill.kind == Kind::csr_rows ? "csr_rows are [non-zeros, columns]" : "a range is [from, to]");
      fill.first = read_formula(two[0], key);
      fill.second = read_formula(two[1], key);
    } else {
      fill.first = read_formula(value, key);
    }
    return fill;
  }

  void read_work(const YamlValue& yaml) {
    spec_.has_work = true;
    const std::vector<YamlMember> members = yaml.members("work");
    require_known(members, {"flops", "uncounted", "read", "write"}, "work");
    for (const YamlMember& member : members) {
      if (member.key == "read") spec_.work.read = read_formula(member.value, "read");
      if (member.key == "write") spec_.work.write = read_formula(member.value, "write");
      if (member.key != "flops" && member.key != "uncounted") continue;
      auto& pipes = member.key == "flops" ? spec_.work.flops : spec_.work.uncounted;
      for (const YamlMember& amount : member.value.members(member.key)) {
        const auto pipe = parse_pipe(amount.key);
        if (!pipe) amount.name.fail_unknown("pipe", amount.key, Keys(pipe_names().begin(), pipe_names().end()));
        pipes[*pipe] = read_formula(amount.value, amount.key);
      }
    }
  }

  void read_like(const YamlValue& yaml) {
    const std::string given = yaml.text("like");
    spec_.like = find_op(given);
    if (spec_.like != nullptr) return;
    Keys names;
    for (const Op* op : all_ops()) names.emplace_back(op->name());
    yaml.fail_unknown("op", given, names, "(see: roofline ops)");
  }

  void read_expect(const YamlValue& yaml) {
    spec_.expect.place = yaml.origin();
    for (const YamlMember& member : yaml.members("expect")) {
      expected_.emplace_back(member.key, member.name);
      if (!member.value.is_map()) {
        spec_.expect.formulas[member.key] = read_formula(member.value, member.key);
        continue;
      }
      const std::vector<YamlMember> file = member.value.members(member.key);
      require_known(file, {"npy"}, "expect");
      spec_.expect.files[member.key] = read_file_path(file.front().value, "npy");
    }
  }

  void read_tolerance(const YamlValue& yaml) {
    if (!yaml.is_map()) {
      spec_.relative_tolerance = read_number(yaml, "tolerance", 0);
      return;
    }
    const std::vector<YamlMember> members = yaml.members("tolerance");
    require_known(members, {"relative", "magnitude"}, "tolerance");
    for (const YamlMember& member : members) {
      (member.key == "relative" ? spec_.relative_tolerance : spec_.magnitude) =
          read_number(member.value, member.key, 0);
    }
    if (spec_.magnitude && !(*spec_.magnitude > 0))
      yaml.fail("magnitude, the typical size of an output, must be more than 0");
  }

  void add_extents_of_op() {
    spec_.extents.clear();
    for (const ShapeParameter& parameter : spec_.like->parameters()) spec_.extents.push_back(parameter.name);
    has_shape_ = true;
    if (spec_.dtypes.empty()) spec_.dtypes = {DType::fp32};
  }

  void read_steps(const std::vector<YamlMember>& members) {
    const YamlMember* steps = find_member(members, "steps");
    const YamlMember* entry = find_member(members, "entry");
    if (triton_ && steps == nullptr) {
      spec_.steps.push_back(read_step(yaml_, members, true));
      return;
    }
    if ((steps == nullptr) == (entry == nullptr)) {
      yaml_.fail(fmt::format("'{}' needs {}", spec_.name,
                             steps == nullptr ? "an 'entry' (the name of its function)" : "either 'entry' or 'steps'"));
    }
    if (steps == nullptr) {
      spec_.steps.push_back(read_step(yaml_, members, true));
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
      spec_.steps.push_back(read_step(step, own, false));
    }
  }

  StepSpec read_step(const YamlValue& yaml, const std::vector<YamlMember>& members, bool sweeps) {
    StepSpec step;
    step.place = yaml.origin();
    const YamlMember* entry = find_member(members, "entry");
    step.entry = entry != nullptr ? entry->value.text("entry") : triton_->name;
    if (const YamlMember* arguments = find_member(members, "arguments")) {
      if (!arguments->value.is_list()) arguments->value.fail("arguments must be a list");
      for (const YamlValue& argument : arguments->value.elements("arguments"))
        step.arguments.push_back(read_argument(argument));
    }
    if (const YamlMember* launch = find_member(members, "launch")) step.launch = read_launch(launch->value, sweeps);
    if (triton_) complete_by_triton(step);
    const bool cuda = spec_.device() == DeviceKind::cuda;
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
      used_.push_back({std::get<PointerSpec>(argument.value).buffer, pointer->value});
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
      read_buffer(yaml, members);
      argument.value = PointerSpec{.buffer = spec_.buffers.back().name, .offset = {}};
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
    used_.push_back({spec.buffer, map.value});
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
    if (!sweeps && choices.size() > 1) member.value.fail("with 'steps', what is to be tried is a list in 'define'");
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
        if (!sweeps && launch.shared.size() > 1)
          member.value.fail("with 'steps', what is to be tried is a list in 'define'");
      }
      if (member.key == "cooperative") launch.cooperative = read_flag(member.value, "cooperative");
      if (member.key == "threads") {
        for (const YamlValue& value : member.value.elements("threads")) {
          const std::string text = value.text("threads");
          if (text != kAllThreads && text != kOwnThreads) value.integer("threads", 1, 4096);
          launch.threads.push_back(value.text("threads"));
        }
        if (!sweeps && launch.threads.size() > 1)
          member.value.fail("with 'steps', what is to be tried is a list in 'define'");
      }
    }
    return launch;
  }

  void check_expectation(const std::vector<YamlMember>& members) {
    const ExpectSpec& expect = spec_.expect;
    if (spec_.like != nullptr) {
      for (const char* key : {"expect", "same_as", "unverified", "tolerance", "work"}) {
        if (const YamlMember* member = find_member(members, key)) {
          member->name.fail(fmt::format("a kernel that is like an op has the op's own '{}'", key));
        }
      }
      for (const BufferSpec& buffer : spec_.buffers) {
        if (buffer.workspace) continue;
        if (buffer_has_type_[buffer.name] || !buffer.size.empty() || buffer.fill.place.line > 0) {
          buffer.place.fail(fmt::format("'{}' has the type, the size and the values that {} gives it", buffer.name,
                                        spec_.like->name()));
        }
      }
      return;
    }
    if (const YamlMember* dtype = find_member(members, "dtype"))
      dtype->name.fail("types belong to the arguments (dtype there)");
    const bool formulas = !expect.formulas.empty() || !expect.files.empty();
    const int ways = (formulas ? 1 : 0) + (expect.same_as.empty() ? 0 : 1) + (expect.unverified ? 1 : 0);
    if (ways != 1) {
      yaml_.fail(
          fmt::format("'{}' {}: expect, same_as, like or unverified", spec_.name,
                      ways == 0 ? "must say what is right by one of" : "says what is right in more than one way"));
    }
    std::size_t outputs = 0;
    for (const BufferSpec& buffer : spec_.buffers) {
      if (!buffer_has_type_[buffer.name] || buffer.size.empty()) {
        buffer.place.fail(fmt::format("'{}' needs a dtype and a size", buffer.name));
      }
      if (buffer.workspace || !is_written(buffer.role)) continue;
      ++outputs;
      const bool expected = expect.formulas.contains(buffer.name) || expect.files.contains(buffer.name);
      if (formulas && !expected) expect.place.fail(fmt::format("what is '{}' expected to be?", buffer.name));
    }
    if (outputs == 0) yaml_.fail(fmt::format("'{}' has no output", spec_.name));
    for (const auto& [name, where] : expected_) {
      const BufferSpec* buffer = spec_.find_buffer(name);
      if (buffer == nullptr || buffer->workspace || !is_written(buffer->role))
        where.fail(fmt::format("'{}' is no output", name));
    }
  }

  /// Of a kernel without a shape, any name may be an extent.
  void require_names(const Formula& formula, Keys values, const Keys& tensors = {}) const {
    if (!has_shape_) {
      const Keys names = formula.names();
      values.insert(values.end(), names.begin(), names.end());
    }
    formula.require_known(values, tensors);
  }

  /// Every name in every formula is that of something.
  void check_names() {
    std::set<std::string> seen;
    const auto unique = [&](const std::string& name, const Place& place) {
      if (!seen.insert(name).second) place.fail(fmt::format("'{}' is the name of two things", name));
    };
    for (const std::string& extent : spec_.extents) unique(extent, spec_.place);
    for (const DefineSpec& define : spec_.defines) unique(define.name, define.place);
    std::vector<std::string> tensors;
    std::vector<std::string> inputs;
    for (const BufferSpec& buffer : spec_.buffers) {
      unique(buffer.name, buffer.place);
      tensors.push_back(buffer.name);
      if (!buffer.workspace && is_read(buffer.role)) inputs.push_back(buffer.name);
    }
    if (spec_.like == nullptr) {
      for (const auto& [name, where] : used_) {
        if (spec_.find_buffer(name) == nullptr) where.fail_unknown("buffer", name, tensors);
      }
    }
    const std::vector<std::string>& shape = spec_.extents;
    std::vector<std::string> configured = shape;
    for (const DefineSpec& define : spec_.defines) configured.push_back(define.name);
    for (const BufferSpec& buffer : spec_.buffers)
      require_names(buffer.size, buffer.workspace ? with_threads(configured) : shape);
    for (const auto& [pipe, formula] : spec_.work.flops) require_names(formula, shape);
    for (const auto& [pipe, formula] : spec_.work.uncounted) require_names(formula, shape);
    require_names(spec_.work.read, shape);
    require_names(spec_.work.write, shape);
    std::vector<std::string> elements = shape;
    elements.emplace_back("i");
    for (const BufferSpec& buffer : spec_.buffers) {
      require_names(buffer.fill.first, buffer.fill.kind == InputFill::Kind::formula ? elements : shape);
      require_names(buffer.fill.second, shape);
    }
    elements.insert(elements.end(), inputs.begin(), inputs.end());
    for (const auto& [output, formula] : spec_.expect.formulas) require_names(formula, elements, inputs);
    for (const StepSpec& step : spec_.steps) check_step(step, configured);
  }

  std::vector<std::string> with_threads(std::vector<std::string> names) const {
    if (spec_.device() == DeviceKind::cpu) names.insert(names.end(), {"thread", "threads"});
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
    if (spec_.device() == DeviceKind::cuda) names.insert(names.end(), {"block", "block_y", "block_z"});
    check(step.launch.grid);
    if (spec_.device() == DeviceKind::cuda) names.insert(names.end(), {"grid", "grid_y", "grid_z"});
    check(step.launch.cluster);
    for (const Formula& formula : step.launch.shared) require_names(formula, names);
    if (spec_.device() == DeviceKind::cuda) names.emplace_back("shared");
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

  YamlValue yaml_;
  fs::path folder_;
  bool has_shape_;
  KernelSpec spec_;
  std::optional<TritonEntry> triton_;
  std::map<std::string, bool> buffer_has_type_;
  std::vector<std::pair<std::string, YamlValue>> expected_;
  std::vector<std::pair<std::string, YamlValue>> used_;
};

/// The names that the shapes of a kernel's workloads have, in the order of the file; nothing where no workload runs it.
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
        kernel.spec->place.fail(
            fmt::format("'{}' is to be the same as '{}', which is no other kernel of this suite for {}", name, other,
                        to_string(kernel.spec->device())));
      }
      right = found->second.spec;
    }
    kernel.op = std::make_shared<const UserOp>(kernel.spec, std::move(right));
  }
  return kernels;
}

}  // namespace roofline
