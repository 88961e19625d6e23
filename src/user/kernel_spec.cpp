// What follows from a kernel's description without evaluating anything.
#include "user/kernel_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/parse.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 12> kScalarTypes = {"int8",  "uint8",  "int16", "uint16", "int32", "uint32",
                                                           "int64", "uint64", "fp16",  "bf16",   "fp32",  "fp64"};
constexpr std::array<std::size_t, 12> kScalarSizes = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};

std::string extent_text(const Extent3& extent) {
  std::string text = extent[0].text();
  for (std::size_t i = 1; i < extent.size(); ++i) text += extent[i].empty() ? "" : "x" + extent[i].text();
  return text;
}

/// Multiplies what there is by the values of one list; `choose` notes the choice.
template <typename Choose>
void multiply(std::vector<Configuration>& all, std::size_t count, Choose choose) {
  constexpr std::size_t kMost = 10000;
  if (count == 0 || all.size() * count > kMost) return;  // the suite's reader refuses more than that
  std::vector<Configuration> longer;
  for (const Configuration& one : all) {
    for (std::size_t i = 0; i < count; ++i) choose(longer.emplace_back(one), i);
  }
  all = std::move(longer);
}

void add_text(Configuration& configuration, std::size_t choices, std::string_view name, const std::string& value) {
  if (choices < 2) return;
  configuration.text += fmt::format("{}{}={}", configuration.text.empty() ? "" : " ", name, value);
}

}  // namespace

std::string_view to_string(ScalarType type) { return kScalarTypes.at(static_cast<std::size_t>(type)); }

std::optional<ScalarType> parse_scalar_type(std::string_view text) {
  const auto found = std::find(kScalarTypes.begin(), kScalarTypes.end(), text);
  if (found == kScalarTypes.end()) return std::nullopt;
  return static_cast<ScalarType>(found - kScalarTypes.begin());
}

std::vector<std::string> scalar_type_names() { return {kScalarTypes.begin(), kScalarTypes.end()}; }

std::size_t scalar_size(ScalarType type) { return kScalarSizes.at(static_cast<std::size_t>(type)); }

std::optional<SourceKind> source_kind(const std::filesystem::path& path) {
  static const std::map<std::string, SourceKind> kinds = {
      {".c", SourceKind::c},         {".cpp", SourceKind::cpp},       {".cc", SourceKind::cpp},
      {".cxx", SourceKind::cpp},     {".cu", SourceKind::cuda},       {".ptx", SourceKind::ptx},
      {".cubin", SourceKind::cubin}, {".fatbin", SourceKind::fatbin}, {".so", SourceKind::shared_library}};
  const auto found = kinds.find(path.extension().string());
  return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

DeviceKind device_of(SourceKind kind) { return kind >= SourceKind::cuda ? DeviceKind::cuda : DeviceKind::cpu; }

const BufferSpec* KernelSpec::find_buffer(std::string_view wanted) const {
  const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const auto& b) { return b.name == wanted; });
  return found == buffers.end() ? nullptr : &*found;
}

double configuration_count(const KernelSpec& spec) {
  double count = 1;
  const LaunchSpec& launch = spec.steps.front().launch;
  for (const DefineSpec& define : spec.defines) count *= static_cast<double>(define.values.size());
  for (const std::size_t choices :
       {launch.block.size(), launch.grid.size(), launch.cluster.size(), launch.shared.size(), launch.threads.size()}) {
    count *= static_cast<double>(std::max<std::size_t>(1, choices));
  }
  return count;
}

std::vector<Configuration> configurations(const KernelSpec& spec) {
  std::vector<Configuration> all = {Configuration{}};
  for (const DefineSpec& define : spec.defines) {
    multiply(all, define.values.size(), [&](Configuration& one, std::size_t i) {
      one.defines.emplace_back(define.name, define.values[i]);
      add_text(one, define.values.size(), define.name, define.values[i]);
    });
  }
  const LaunchSpec& launch = spec.steps.front().launch;
  const auto extents = [&](const std::vector<Extent3>& choices, std::size_t Configuration::*index,
                           std::string_view name) {
    multiply(all, choices.size(), [&](Configuration& one, std::size_t i) {
      one.*index = i;
      add_text(one, choices.size(), name, extent_text(choices[i]));
    });
  };
  extents(launch.block, &Configuration::block, "block");
  extents(launch.grid, &Configuration::grid, "grid");
  extents(launch.cluster, &Configuration::cluster, "cluster");
  multiply(all, launch.shared.size(), [&](Configuration& one, std::size_t i) {
    one.shared = i;
    add_text(one, launch.shared.size(), "shared", launch.shared[i].text());
  });
  multiply(all, launch.threads.size(), [&](Configuration& one, std::size_t i) {
    one.threads = i;
    add_text(one, launch.threads.size(), "threads", launch.threads[i]);
  });
  return all;
}

void add_defines(const Configuration& configuration, Values& values) {
  for (const auto& [name, text] : configuration.defines) {
    if (const auto value = parsed_number<double>(text)) values[name] = *value;
  }
}

}  // namespace roofline
