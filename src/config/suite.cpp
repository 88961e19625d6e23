// The suite as a whole: the top level of the file, and what follows from all entries together.
#include "config/suite.hpp"

#include <algorithm>
#include <tuple>

#include "config/kernel_section.hpp"
#include "config/suite_entry.hpp"
#include "config/suite_expand.hpp"
#include "config/yaml_value.hpp"
#include "host/files.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// Suites name folders (reports/<suite>-<device>).
std::string read_name(const YamlValue& yaml) {
  std::string name = yaml.text("name");
  const bool safe = name[0] != '.' && name[0] != '-' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                             c == '_' || c == '-';
                    });
  if (!safe)
    yaml.fail("name '" + name + "' must be made of letters, digits, '.', '_' and '-', since it names a folder");
  return name;
}

std::vector<EntrySpec> read_workloads(const YamlValue& yaml, const EntrySettings& defaults,
                                      const SuiteKernels& kernels) {
  if (!yaml.is_list()) yaml.fail("workloads must be a list ('- op: …')");
  std::vector<EntrySpec> specs;
  for (const YamlValue& element : yaml.elements("workloads")) {
    specs.push_back(read_entry(element, defaults, kernels));
  }
  return specs;
}

/// The workloads for `device`. Those for the other kind are expanded too, and dropped: a mistake in them
/// should not wait for the day when that device is there.
std::vector<SuiteEntry> expand_all(const std::vector<EntrySpec>& specs, DeviceKind device) {
  std::vector<SuiteEntry> entries;
  std::vector<Workload> beside;  // built-in implementations of the op that a kernel is `like:`
  for (const EntrySpec& spec : specs) {
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
      for (SuiteEntry& entry : expand(spec, kind)) {
        if (kind != device) continue;
        if (spec.kernel != nullptr && entry.kernel == nullptr) {
          // Two kernels that are like one op need it once.
          const Workload& w = entry.workload;
          const bool there = std::any_of(beside.begin(), beside.end(), [&](const Workload& other) {
            return std::tie(w.op, w.implementation, w.dtype, w.cache, w.seed) ==
                       std::tie(other.op, other.implementation, other.dtype, other.cache, other.seed) &&
                   w.shape == other.shape;
          });
          if (there) continue;
          beside.push_back(w);
        }
        entries.push_back(std::move(entry));
      }
    }
  }
  return entries;
}

}  // namespace

Suite parse_suite(const std::string& text, const std::string& path, DeviceKind device) {
  const YamlValue root = parse_yaml(text, path);
  const std::vector<std::string> known = {"name", "description", "kernels", "defaults", "workloads"};
  const std::vector<YamlMember> members = root.members("a suite");
  const auto find = [&](std::string_view key) {
    const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.key == key; });
    return found == members.end() ? nullptr : &found->value;
  };
  for (const YamlMember& member : members) {
    const bool is_known = std::find(known.begin(), known.end(), member.key) != known.end();
    if (!is_known) member.name.fail_unknown("key", member.key, known, "(in a suite)");
  }
  for (const std::string_view required : {"name", "workloads"}) {
    if (find(required) == nullptr) root.fail("a suite needs '" + std::string(required) + "'");
  }

  Suite suite{.name = read_name(*find("name")), .description = {}, .path = path, .text = text, .entries = {}};
  if (const YamlValue* description = find("description")) suite.description = description->text("description");
  const YamlValue* defaults = find("defaults");
  const YamlValue* kernels_section = find("kernels");
  const SuiteKernels kernels = kernels_section ? read_kernels(*kernels_section, *find("workloads")) : SuiteKernels{};
  for (const auto& [name, kernel] : kernels) {
    if (kernel.op) suite.own_ops.push_back(kernel.op);
    if (!kernel.used) suite.unused_kernels.push_back(name);
  }
  const auto specs = read_workloads(*find("workloads"), defaults ? read_defaults(*defaults) : EntrySettings{}, kernels);
  suite.entries = expand_all(specs, device);
  if (suite.entries.empty()) {
    find("workloads")->fail("no workload of this suite is for " + std::string(to_string(device)) + " (see 'only')");
  }
  make_labels_unique(suite.entries);
  return suite;
}

/// Ten thousand rows written out have 1 MB.
constexpr FileLimit kSuiteLimit{std::uint64_t{16} << 20, "a suite"};

Suite load_suite(const std::string& path, DeviceKind device) {
  return parse_suite(read_file(path, kSuiteLimit, "pass a suite's file or the name of an installed suite, such as ops"),
                     path, device);
}

}  // namespace roofline
