#include "report/titles.hpp"

#include <array>

#include "model/spelling.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 6> kBoundTitles = {
    "memory-bound", "compute-bound", "latency-bound", "communication-bound", "balanced", "without a known roof"};

}  // namespace

std::string title_of(Level level) { return level == Level::shared ? "shared memory" : upper_case(to_string(level)); }

std::string_view title_of(BoundLabel label) { return spell(kBoundTitles, label); }

std::string title_of_pipe(std::string_view name) {
  constexpr std::string_view kTensor = "tensor.";
  return name.starts_with(kTensor) ? upper_case(name.substr(kTensor.size())) + " tensor" : upper_case(name);
}

bool is_gpu_of_amd(std::string_view name) {
  return contains_any(lower_case(name), {"amd ", "instinct", "radeon", "gfx"});
}

bool is_compute_gpu_of_amd(std::string_view name) {
  const std::string lower = lower_case(name);
  const bool rdna = contains_any(lower, {"gfx10", "gfx11", "gfx12"}) ||
                    (contains_any(lower, {"radeon"}) && !contains_any(lower, {"instinct", "radeon vii"}));
  return is_gpu_of_amd(name) && !rdna;
}

bool is_gpu_of_intel(std::string_view name) {
  return contains_any(lower_case(name), {"intel", "data center gpu max", "data center gpu flex"});
}

std::string short_device_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> kVendors = {"NVIDIA ", "AMD ", "Intel ", "Apple "};
  std::string text = clean_line(std::string(name));
  for (const std::string_view mark : {std::string_view("(R)"), std::string_view("(TM)")}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) text.erase(at, mark.size());
  }
  for (const std::string_view vendor : kVendors) {
    if (text.starts_with(vendor) && text.size() > vendor.size()) text.erase(0, vendor.size());
  }
  // The rest is the size of the memory, the number of cores and the clock.
  const auto ends_name = [](std::string_view word) {
    return word == "CPU" || word == "@" || word.ends_with("-Core") ||
           (word.ends_with("GB") && !word.empty() && word.front() >= '0' && word.front() <= '9');
  };
  std::string kept;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!kept.empty() && ends_name(word)) break;
    kept += (kept.empty() ? "" : " ") + word;
  }
  return kept;
}

std::pair<std::string, std::string> names_apart(std::string_view a, std::string_view b) {
  std::pair<std::string, std::string> names = {short_device_name(a), short_device_name(b)};
  if (names.first == names.second) names = {clean_line(std::string(a)), clean_line(std::string(b))};
  return names;
}

}  // namespace roofline
