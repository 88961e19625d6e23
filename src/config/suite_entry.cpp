// One entry: its keys checked one by one, `cpu:` and `cuda:` applied over what holds for both.
#include "config/suite_entry.hpp"

#include <algorithm>

namespace roofline {
namespace {

constexpr std::array kDeviceKinds = {DeviceKind::cpu, DeviceKind::cuda};

/// Seeds are numbers in report.json, and many of its readers hold numbers as doubles.
constexpr std::int64_t kMaxSeed = (std::int64_t{1} << 53) - 1;

using Keys = std::vector<std::string>;

CacheMode read_cache(const YamlValue& yaml) {
  const std::string given = yaml.text("cache");
  for (const CacheMode mode : {CacheMode::cold, CacheMode::hot}) {
    if (given == to_string(mode)) return mode;
  }
  yaml.fail_unknown("cache mode", given, {"cold", "hot"});
}

DeviceKind read_device_kind(const YamlValue& yaml) {
  const std::string given = yaml.text("only");
  if (const auto kind = parse_device_kind(given)) return *kind;
  yaml.fail_unknown("device kind", given, {"cpu", "cuda"});
}

Pipe read_pipe(const YamlValue& yaml) {
  const std::string given = yaml.text("needs");
  if (const auto pipe = parse_pipe(given)) return *pipe;
  yaml.fail_unknown("pipe", given, Keys(pipe_names().begin(), pipe_names().end()));
}

/// A mapping from extents to values: each whole, and in the range that the op gives.
ShapeSweep read_shape(const YamlValue& yaml, const Op& op) {
  const std::vector<ShapeParameter> parameters = op.parameters();
  ShapeSweep sweep;
  for (const YamlMember& member : yaml.members("shape")) {
    const auto known = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const ShapeParameter& p) { return p.name == member.key; });
    if (known == parameters.end()) {
      Keys names;
      for (const ShapeParameter& parameter : parameters) names.push_back(parameter.name);
      member.name.fail_unknown("extent", member.key, names, "(of " + std::string(op.name()) + ")");
    }
    ExtentSweep extent{.name = member.key, .values = {}};
    for (const YamlValue& value : member.value.elements(member.key)) {
      extent.values.push_back(value.integer(member.key, known->minimum, known->maximum));
    }
    sweep.push_back(std::move(extent));
  }
  return sweep;
}

/// `changes` over `base`, extent by extent.
ShapeSweep merged(ShapeSweep base, const ShapeSweep& changes) {
  for (const ExtentSweep& change : changes) {
    const auto same =
        std::find_if(base.begin(), base.end(), [&](const ExtentSweep& e) { return e.name == change.name; });
    if (same != base.end()) {
      same->values = change.values;
    } else {
      base.push_back(change);
    }
  }
  return base;
}

/// A mapping changes the shapes that are there extent by extent; a list of mappings replaces them.
std::vector<ShapeSweep> read_shapes(const YamlValue& yaml, const Op& op, const std::vector<ShapeSweep>& base) {
  std::vector<ShapeSweep> shapes;
  if (yaml.is_list()) {
    for (const YamlValue& element : yaml.elements("shape")) shapes.push_back(read_shape(element, op));
    return shapes;
  }
  const ShapeSweep changes = read_shape(yaml, op);
  for (const ShapeSweep& shape : base) shapes.push_back(merged(shape, changes));
  return shapes;
}

template <class Value>
std::vector<Value> read_list(const YamlMember& member, Value (*read)(const YamlValue&)) {
  std::vector<Value> values;
  for (const YamlValue& element : member.value.elements(member.key)) {
    values.push_back(read(element));
    if (std::count(values.begin(), values.end(), values.back()) > 1) {
      element.fail("'" + element.text(member.key) + "' is listed twice");
    }
  }
  return values;
}

std::vector<ImplementationChoice> read_implementations(const YamlMember& member) {
  std::vector<ImplementationChoice> choices;
  for (const YamlValue& element : member.value.elements("impl")) {
    const std::string name = element.text("impl");
    const bool twice = std::any_of(choices.begin(), choices.end(), [&](const auto& c) { return c.name == name; });
    if (twice) element.fail("'" + name + "' is listed twice");
    choices.push_back({name, element});
  }
  const bool all = std::any_of(choices.begin(), choices.end(), [](const auto& c) { return c.name == "all"; });
  if (all && choices.size() > 1) member.value.fail("'all' already includes the others");
  return choices;
}

/// Applies one member to the settings. `op` is null in `defaults`, which can have no shape.
void apply(const YamlMember& member, const Op* op, EntrySettings& settings) {
  if (member.key == "shape") {
    settings.shapes = read_shapes(member.value, *op, settings.shapes);
    settings.shape_where = member.value;
  }
  if (member.key == "dtype") settings.dtypes = read_list(member, read_dtype);
  if (member.key == "impl") settings.implementations = read_implementations(member);
  if (member.key == "cache") settings.caches = read_list(member, read_cache);
  if (member.key == "seed") settings.seed = static_cast<std::uint64_t>(member.value.integer("seed", 0, kMaxSeed));
  if (member.key == "label") settings.label = member.value.text("label");
}

void apply_all(const std::vector<YamlMember>& members, const Op* op, EntrySettings& settings) {
  for (const YamlMember& member : members) apply(member, op, settings);
}

const SuiteKernel& read_kernel(const YamlValue& yaml, const SuiteKernels& kernels) {
  const std::string given = yaml.text("kernel");
  const auto found = kernels.find(given);
  if (found != kernels.end()) return found->second;
  Keys names;
  for (const auto& [name, kernel] : kernels) names.push_back(name);
  yaml.fail_unknown("kernel", given, names, "(see 'kernels' in this suite)");
}

/// Types are those of the kernel's arguments.
void require_no_dtype(const std::vector<YamlMember>& members) {
  if (const YamlMember* dtype = find_member(members, "dtype")) {
    dtype->name.fail("the types of a suite's own kernel are those of its arguments");
  }
}

/// The extents of a suite's own kernel have no defaults.
void require_whole_shapes(const EntrySpec& spec, const EntrySettings& settings) {
  for (const ShapeSweep& shape : settings.shapes) {
    for (const std::string& extent : spec.kernel->extents) {
      const bool given =
          std::any_of(shape.begin(), shape.end(), [&](const ExtentSweep& e) { return e.name == extent; });
      if (!given)
        settings.shape_where.value_or(spec.where)
            .fail("this shape of '" + spec.kernel->name + "' lacks '" + extent + "'");
    }
  }
}

}  // namespace

EntrySettings read_defaults(const YamlValue& yaml) {
  const std::vector<YamlMember> members = yaml.members("defaults");
  require_known(members, {"dtype", "cache", "seed"}, "defaults");
  EntrySettings settings;
  apply_all(members, nullptr, settings);
  return settings;
}

EntrySpec read_entry(const YamlValue& yaml, const EntrySettings& defaults, const SuiteKernels& kernels) {
  const std::vector<YamlMember> members = yaml.members("a workload");
  require_known(members,
                {"op", "kernel", "shape", "dtype", "impl", "cache", "seed", "label", "only", "needs", "cpu", "cuda"},
                "a workload");
  const YamlMember* op_member = find_member(members, "op");
  const YamlMember* kernel_member = find_member(members, "kernel");
  if (op_member == nullptr && kernel_member == nullptr) {
    yaml.fail("a workload needs an 'op' (see: roofline ops), or a 'kernel' of this suite's 'kernels'");
  }
  if (op_member != nullptr && kernel_member != nullptr)
    kernel_member->name.fail("a workload has an 'op' or a 'kernel'");
  EntrySpec spec{.op = nullptr, .kernel = nullptr, .where = yaml, .settings = {}};
  EntrySettings common = defaults;
  if (op_member != nullptr) {
    spec.op = &read_op(op_member->value, "op");
  } else {
    const SuiteKernel& kernel = read_kernel(kernel_member->value, kernels);
    spec.kernel = kernel.spec;
    spec.op = kernel.op ? kernel.op.get() : kernel.spec->like;
    if (kernel.op) require_no_dtype(members);
    common.dtypes = kernel.op ? std::vector{kernel.op->dtype()} : kernel.spec->dtypes;
  }
  apply_all(members, spec.op, common);
  if (const YamlMember* needs = find_member(members, "needs")) spec.needs = read_pipe(needs->value);
  const YamlMember* only = find_member(members, "only");
  const auto kinds = only != nullptr ? read_list(*only, read_device_kind)
                                     : std::vector<DeviceKind>(kDeviceKinds.begin(), kDeviceKinds.end());
  for (const DeviceKind kind : kDeviceKinds) {
    const YamlMember* changes = find_member(members, to_string(kind));
    EntrySettings settings = common;
    if (changes != nullptr) {
      const std::vector<YamlMember> overrides = changes->value.members(changes->key);
      require_known(overrides, {"shape", "dtype", "impl", "cache", "seed", "label"}, changes->key);
      if (spec.kernel != nullptr && spec.kernel->like == nullptr) require_no_dtype(overrides);
      apply_all(overrides, spec.op, settings);
    }
    const bool wanted = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    if (!wanted && changes != nullptr) changes->name.fail("'only' leaves " + changes->key + " out");
    if (wanted && spec.kernel != nullptr && spec.kernel->like == nullptr) require_whole_shapes(spec, settings);
    if (wanted) spec.settings[static_cast<std::size_t>(kind)] = std::move(settings);
  }
  return spec;
}

}  // namespace roofline
