// The cartesian product of an entry's lists, the choice of implementations, and labels.
#include "config/suite_expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "op/registry.hpp"
#include "op/suite_op.hpp"
#include "text/nearest_name.hpp"
#include "user/user_implementation.hpp"

namespace roofline {
namespace {

/// An implementation for a workload, or the reason why it cannot run or does not exist.
struct Chosen {
  std::string name;
  std::optional<Implementation> implementation;
  std::string skip_reason;
  std::vector<Implementation> below = {};
};

using Names = std::vector<std::string>;

std::string joined(const Names& names) { return fmt::format("{}", fmt::join(names, ", ")); }

Names names_of(const std::vector<Implementation>& implementations) {
  Names names;
  for (const Implementation& implementation : implementations) names.push_back(implementation.name);
  return names;
}

bool supports(const Implementation& implementation, DType dtype) {
  return std::find(implementation.dtypes.begin(), implementation.dtypes.end(), dtype) != implementation.dtypes.end();
}

/// The types that any of these implementations supports, in the vocabulary's order.
Names dtypes_of(const std::vector<Implementation>& implementations) {
  Names names;
  for (const std::string_view name : dtype_names()) {
    const bool any = std::any_of(implementations.begin(), implementations.end(),
                                 [&](const Implementation& i) { return supports(i, *parse_dtype(name)); });
    if (any) names.emplace_back(name);
  }
  return names;
}

/// True if this build has implementations for that kind of device at all.
bool build_has(DeviceKind kind) {
  const std::vector<const Op*> ops = all_ops();
  return std::any_of(ops.begin(), ops.end(), [&](const Op* op) { return !implementations_of(*op, kind).empty(); });
}

std::string no_dtype_reason(const std::string& who, DType dtype, const std::vector<Implementation>& candidates,
                            DeviceKind device) {
  return who + " has no " + std::string(to_string(dtype)) + " implementation on " + std::string(to_string(device)) +
         " (has: " + joined(dtypes_of(candidates)) + ")";
}

/// The implementation of that name, or why it is not to be had here. A name that no device has is an
/// error, unless this build lacks the other half of the program and the name may well be from there.
Chosen choose_named(const ImplementationChoice& choice, const Op& op, DType dtype, DeviceKind device,
                    const std::vector<Implementation>& here) {
  const auto named = std::find_if(here.begin(), here.end(), [&](const auto& i) { return i.name == choice.name; });
  const std::string who = std::string(op.name()) + "/" + choice.name;
  if (named != here.end()) {
    return {choice.name, *named, supports(*named, dtype) ? "" : no_dtype_reason(who, dtype, {*named}, device)};
  }
  const DeviceKind other = device == DeviceKind::cpu ? DeviceKind::cuda : DeviceKind::cpu;
  const Names elsewhere = names_of(implementations_of(op, other));
  const std::string has = here.empty() ? "nothing" : joined(names_of(here));
  const std::string absence = who + " does not exist on " + std::string(to_string(device)) + " (has: " + has + ")";
  if (std::find(elsewhere.begin(), elsewhere.end(), choice.name) != elsewhere.end()) return {choice.name, {}, absence};

  Names known = names_of(here);
  known.insert(known.end(), elsewhere.begin(), elsewhere.end());
  known.emplace_back("all");
  const bool complete = build_has(device) && build_has(other);
  if (complete || (build_has(device) && !nearest_name(choice.name, known).empty())) {
    choice.where.fail_unknown("impl", choice.name, known, "(of " + std::string(op.name()) + ")");
  }
  const std::string missing(to_string(build_has(device) ? other : device));
  return {choice.name, {}, absence + "; this build does not support " + missing};
}

/// Implementations in addition to the op's own: those of a kernel of the suite with `like:` this op.
std::vector<Implementation> implementations_like(const EntrySpec& entry) {
  const bool like = entry.kernel != nullptr && entry.kernel->like != nullptr;
  return like ? user_implementations(entry.kernel) : std::vector<Implementation>{};
}

std::vector<Chosen> choose(const EntrySettings& settings, const EntrySpec& entry, DType dtype, DeviceKind device) {
  const Op& op = *entry.op;
  std::vector<Implementation> here = implementations_of(op, device);
  if (entry.kernel != nullptr && entry.kernel->device() != device) {
    const std::string kinds(to_string(entry.kernel->device()));
    return {{entry.kernel->name,
             {},
             entry.kernel->name + " is for " + kinds + " (" + entry.kernel->source.filename().string() + ")"}};
  }
  for (const Implementation& implementation : implementations_like(entry)) here.push_back(implementation);
  const std::string name(op.name());
  const bool named = !settings.implementations.empty() && settings.implementations.front().name != "all";
  std::vector<Chosen> chosen;
  if (named) {
    for (const auto& choice : settings.implementations) chosen.push_back(choose_named(choice, op, dtype, device, here));
    return chosen;
  }
  if (here.empty()) return {{"", {}, name + " has no implementation on " + std::string(to_string(device))}};
  std::vector<Implementation> supported;
  std::copy_if(here.begin(), here.end(), std::back_inserter(supported),
               [&](const auto& i) { return supports(i, dtype); });
  if (supported.empty()) return {{"", {}, no_dtype_reason(name, dtype, here, device)}};
  if (settings.implementations.empty() && entry.kernel == nullptr) {
    // In the order of implementations: from the plainest to the fastest.
    return {{supported.back().name, supported.back(), "", {supported.rbegin() + 1, supported.rend()}}};
  }
  for (const Implementation& implementation : supported) chosen.push_back({implementation.name, implementation, ""});
  return chosen;
}

/// Every combination of the extents, the last one fastest, in the op's own order. What is 0 unless it is set is an
/// option, and shapes leave it out at 0.
std::vector<Shape> expand_shape(const ShapeSweep& sweep, const Op& op) {
  std::vector<Shape> shapes = {Shape{}};
  for (const ShapeParameter& parameter : op.parameters()) {
    const auto given =
        std::find_if(sweep.begin(), sweep.end(), [&](const ExtentSweep& e) { return e.name == parameter.name; });
    const auto values = given == sweep.end() ? std::vector{parameter.default_value} : given->values;
    std::vector<Shape> longer;
    for (const Shape& shape : shapes) {
      for (const std::int64_t value : values) {
        longer.push_back(shape);
        if (value != 0 || parameter.default_value != 0) longer.back().set(parameter.name, value);
      }
    }
    shapes = std::move(longer);
  }
  return shapes;
}

/// "4096x4096x4096"; large powers of two become "2^28". Options follow by name:
/// "1x32x2048x128 causal kv_heads=8".
std::string shape_text(const Shape& shape, const Op& op) {
  std::string text;
  std::string options;
  for (const ShapeParameter& parameter : op.parameters()) {
    if (!shape.contains(parameter.name)) continue;
    const std::int64_t extent = shape[parameter.name];
    if (parameter.default_value == 0) {
      options += ' ' + parameter.name + (parameter.maximum == 1 ? "" : "=" + std::to_string(extent));
      continue;
    }
    int bits = 0;
    while (bits < 62 && (std::int64_t{1} << bits) < extent) ++bits;
    const bool power = bits > 16 && (std::int64_t{1} << bits) == extent;
    text += (text.empty() ? "" : "x") + (power ? "2^" + std::to_string(bits) : std::to_string(extent));
  }
  return text + options;
}

void require_possible(const Shape& shape, const Op& op, const YamlValue& where) {
  // Formulas of a suite's kernel compute exactly, and its extents need not be factors of one size (rows and non-zeros).
  if (as_suite_op(op) != nullptr) return;
  // Above 2^53 neither a double nor, with a few more factors, 64 bits hold the work of a launch.
  constexpr std::int64_t kMaxProduct = std::int64_t{1} << 53;
  std::int64_t product = 1;
  for (const auto& [name, extent] : shape.extents()) {
    if (extent > 0 && product > kMaxProduct / extent) {
      where.fail("shape " + shape_text(shape, op) + " is beyond any machine: its extents multiply to more than 2^53");
    }
    product *= std::max<std::int64_t>(extent, 1);
  }
  if (const auto reason = op.invalid(shape)) {
    where.fail("shape " + shape_text(shape, op) + " is impossible for " + std::string(op.name()) + ": " + *reason);
  }
}

/// Evaluates all formulas of the suite's own kernel, which name their places.
void require_bindable(const EntrySpec& entry, const Shape& shape, DType dtype) {
  Workload workload;
  workload.op = std::string(entry.op->name());
  workload.dtype = dtype;
  workload.shape = shape;
  check_bindings(*entry.kernel, workload);
  if (entry.kernel->like == nullptr) static_cast<void>(entry.op->work(workload, entry.kernel->device()));
}

/// A typing slip must not become a run of weeks.
void require_sane_count(const EntrySpec& entry, const EntrySettings& settings) {
  constexpr double kMaxWorkloads = 10000;
  double count = 0;
  for (const ShapeSweep& sweep : settings.shapes) {
    double combinations = 1;
    for (const ExtentSweep& extent : sweep) combinations *= static_cast<double>(extent.values.size());
    count += combinations;
  }
  count *= static_cast<double>(settings.dtypes.size() * settings.caches.size() *
                               std::max<std::size_t>(1, settings.implementations.size()));
  if (entry.kernel != nullptr) count *= configuration_count(*entry.kernel);
  if (count > kMaxWorkloads) entry.where.fail("this sweep expands to more than 10000 workloads");
}

/// The names of the implementations that are the suite's own.
std::set<std::string> own_implementations(const EntrySpec& entry) {
  std::set<std::string> names;
  if (entry.kernel == nullptr) return names;
  for (const Implementation& implementation : user_implementations(entry.kernel)) names.insert(implementation.name);
  for (const Implementation& implementation : implementations_of(*entry.op, entry.kernel->device())) {
    if (entry.kernel->like == nullptr || !names.contains(implementation.name)) continue;
    entry.where.fail(std::string(entry.op->name()) + " has an implementation '" + implementation.name +
                     "' already: choose another name for the kernel");
  }
  return names;
}

void make_labels(std::vector<SuiteEntry>& entries) {
  // Adds a part to every label that several workloads share, if the part distinguishes them.
  const auto distinguish = [&](auto part) {
    std::map<std::string, std::set<std::string>> parts;
    for (const SuiteEntry& entry : entries) parts[entry.workload.label].insert(part(entry));
    for (SuiteEntry& entry : entries) {
      const std::string text = part(entry);
      if (parts[entry.workload.label].size() > 1 && !text.empty()) entry.workload.label += " " + text;
    }
  };
  for (SuiteEntry& entry : entries) {
    Workload& workload = entry.workload;
    const SuiteOp* own = as_suite_op(*entry.op);
    const std::string unverified = own != nullptr && !own->has_reference() ? " unverified" : "";
    if (!workload.label.empty()) {
      workload.label += unverified;
      continue;
    }
    workload.label =
        workload.op + " " + std::string(to_string(workload.dtype)) + " " + shape_text(workload.shape, *entry.op);
    workload.label += unverified;
  }
  distinguish([](const SuiteEntry& e) { return e.workload.op; });
  distinguish([](const SuiteEntry& e) { return std::string(to_string(e.workload.dtype)); });
  distinguish([](const SuiteEntry& e) { return shape_text(e.workload.shape, *e.op); });
  distinguish([](const SuiteEntry& e) { return e.workload.implementation; });
  distinguish([](const SuiteEntry& e) { return std::string(to_string(e.workload.cache)); });
  distinguish([](const SuiteEntry& e) { return "seed " + std::to_string(e.workload.seed); });
}

/// Labels of the rows that are chosen among configurations: what distinguishes the others, without the configuration.
void make_chosen_labels(std::vector<SuiteEntry>& entries) {
  std::vector<SuiteEntry> plain = entries;
  for (SuiteEntry& entry : plain) {
    if (entry.chooses_fastest())
      entry.workload.implementation = entry.kernel->like == nullptr ? "" : entry.kernel->name;
  }
  make_labels(plain);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].chooses_fastest()) entries[i].chosen_label = plain[i].workload.label;
  }
}

}  // namespace

std::optional<double> SuiteEntry::time_limit_s() const {
  return kernel ? std::optional(kernel->time_limit_s) : std::nullopt;
}

bool SuiteEntry::chooses_fastest() const { return kernel != nullptr && kernel->choose_fastest; }

std::vector<SuiteEntry> expand(const EntrySpec& entry, DeviceKind device) {
  const std::optional<EntrySettings>& settings = entry.on(device);
  if (!settings) return {};
  require_sane_count(entry, *settings);
  const std::set<std::string> own = own_implementations(entry);
  std::vector<SuiteEntry> entries;
  const auto add = [&](const Shape& shape, DType dtype, const Chosen& chosen, CacheMode cache) {
    entries.push_back({.op = entry.op,
                       .implementation = chosen.implementation,
                       .below = chosen.below,
                       .workload = {.op = std::string(entry.op->name()),
                                    .implementation = chosen.name,
                                    .dtype = dtype,
                                    .shape = shape,
                                    .cache = cache,
                                    .seed = settings->seed,
                                    .label = settings->label},
                       .skip_reason = chosen.skip_reason,
                       .line = entry.where.line(),
                       .needs = entry.needs,
                       .kernel = own.contains(chosen.name) ? entry.kernel : nullptr});
  };
  for (const ShapeSweep& sweep : settings->shapes) {
    for (const Shape& shape : expand_shape(sweep, *entry.op)) {
      require_possible(shape, *entry.op, settings->shape_where.value_or(entry.where));
      for (const DType dtype : settings->dtypes) {
        if (entry.kernel != nullptr) require_bindable(entry, shape, dtype);
        for (const Chosen& chosen : choose(*settings, entry, dtype, device)) {
          for (const CacheMode cache : settings->caches) add(shape, dtype, chosen, cache);
        }
      }
    }
  }
  return entries;
}

void make_labels_unique(std::vector<SuiteEntry>& entries) {
  make_chosen_labels(entries);
  make_labels(entries);
  // The rest are duplicates of a workload.
  std::set<std::string> seen;
  for (SuiteEntry& entry : entries) {
    const std::string label = entry.workload.label;
    for (int number = 2; !seen.insert(entry.workload.label).second; ++number) {
      entry.workload.label = label + " #" + std::to_string(number);
    }
  }
}

}  // namespace roofline
