#include "report/profile.hpp"

#include <algorithm>

namespace roofline {
namespace {

constexpr std::array<std::string_view, 3> kTimes = {"traced", "replayed", "averaged"};
constexpr std::array<std::string_view, 4> kWork = {"", "counted", "modelled", "stated"};

template <typename Source, typename Names>
std::optional<Source> parse(const Names& names, std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  return found == names.end() ? std::nullopt : std::optional(static_cast<Source>(found - names.begin()));
}

}  // namespace

std::string_view to_string(TimeSource source) { return kTimes.at(static_cast<std::size_t>(source)); }
std::string_view to_string(WorkSource source) { return kWork.at(static_cast<std::size_t>(source)); }
std::optional<TimeSource> parse_time_source(std::string_view text) { return parse<TimeSource>(kTimes, text); }
std::optional<WorkSource> parse_work_source(std::string_view text) { return parse<WorkSource>(kWork, text); }

std::optional<double> inflation(const Profile& profile) {
  if (!profile.untraced_s || !profile.traced_s || *profile.untraced_s <= 0) return std::nullopt;
  return (*profile.traced_s - profile.counting_s) / *profile.untraced_s - 1;
}

}  // namespace roofline
