#include "import/kineto_categories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "text/text.hpp"

namespace roofline::kineto {
namespace {

/// libkineto's ActivityType.h, and what PyTorch 1.8 to 1.11 wrote.
constexpr std::pair<std::string_view, EventKind> kCategories[] = {{"kernel", EventKind::kernel},
                                                                  {"gpu_memcpy", EventKind::copy},
                                                                  {"memcpy", EventKind::copy},
                                                                  {"gpu_memset", EventKind::fill},
                                                                  {"memset", EventKind::fill},
                                                                  {"cuda_runtime", EventKind::call},
                                                                  {"cuda_driver", EventKind::call},
                                                                  {"runtime", EventKind::call},
                                                                  {"driver", EventKind::call},
                                                                  {"hip_runtime", EventKind::call},
                                                                  {"hip_driver", EventKind::call},
                                                                  {"xpu_runtime", EventKind::call},
                                                                  {"xpu_driver", EventKind::call},
                                                                  {"mtia_runtime", EventKind::call},
                                                                  {"privateuse1_runtime", EventKind::call},
                                                                  {"privateuse1_driver", EventKind::call},
                                                                  {"cpu_op", EventKind::operation},
                                                                  {"operator", EventKind::operation},
                                                                  {"user_annotation", EventKind::annotation},
                                                                  {"python_function", EventKind::function},
                                                                  {"gpu_user_annotation", EventKind::unused},
                                                                  {"external_correlation", EventKind::unused},
                                                                  {"cpu_instant_event", EventKind::unused},
                                                                  {"overhead", EventKind::unused},
                                                                  {"cuda_sync", EventKind::unused},
                                                                  {"cuda_event", EventKind::unused},
                                                                  {"xpu_sync", EventKind::unused},
                                                                  {"cuda_profiler_range", EventKind::unused},
                                                                  {"collective_comm", EventKind::unused},
                                                                  {"hardware_counters", EventKind::unused},
                                                                  {"fwdbwd", EventKind::unused},
                                                                  {"forward_backward", EventKind::unused},
                                                                  {"ac2g", EventKind::unused},
                                                                  {"async_cpu_to_gpu", EventKind::unused},
                                                                  {"async_gpu", EventKind::unused},
                                                                  {"trace", EventKind::unused}};

}  // namespace

std::optional<EventKind> kind_of_category(std::string_view category) {
  const std::string lower = lower_case(category);
  for (const auto& [name, kind] : kCategories) {
    if (lower == name) return kind;
  }
  // Other devices name theirs like PyTorch does: "npu_runtime".
  const bool calls = lower.ends_with("_runtime") || lower.ends_with("_driver");
  return calls ? std::optional(EventKind::call) : std::nullopt;
}

void CategoryCounts::add(std::string_view category) {
  constexpr std::size_t kMost = 1024, kLongest = 60;
  category = category.substr(0, kLongest);
  const auto found = counts_.find(category);
  if (found != counts_.end()) {
    ++found->second;
  } else {
    ++counts_[counts_.size() < kMost ? std::string(category) : "other categories"];
  }
}

bool CategoryCounts::has_prefix(std::string_view prefix) const {
  return std::any_of(counts_.begin(), counts_.end(), [&](const auto& one) { return one.first.starts_with(prefix); });
}

std::string CategoryCounts::list(bool only_unknown) const {
  std::vector<std::pair<std::string_view, std::int64_t>> listed;
  for (const auto& [category, count] : counts_) {
    if (!only_unknown || !kind_of_category(category)) listed.emplace_back(category, count);
  }
  std::stable_sort(listed.begin(), listed.end(), [](auto& a, auto& b) { return a.second > b.second; });
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < listed.size() && i < kShown; ++i) {
    const auto& [category, count] = listed[i];
    text +=
        fmt::format("{}{} ({})", i == 0 ? "" : ", ", category.empty() ? "no category" : clean_line(category), count);
  }
  if (listed.size() > kShown) text += fmt::format(", {} more", listed.size() - kShown);
  return text;
}

}  // namespace roofline::kineto
