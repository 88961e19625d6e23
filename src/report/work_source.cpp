#include "report/work_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "report/cpu_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {

std::string_view work_source(const Point& point) {
  if (!point.profiled || (point.work.flops.empty() && point.work.bytes.empty())) return {};
  return to_string(point.profiled->work_source);
}

bool is_counted_in_part(const Point& point) {
  return work_source(point) == to_string(WorkSource::counted) && !point.profiled->not_counted.empty();
}

bool lacks_flops(const Point& point) {
  const bool only_bytes = point.work.flops.empty() && work_source(point) == to_string(WorkSource::stated);
  return only_bytes || (is_counted_in_part(point) && !point.work.bytes.empty());
}

bool has_wrong_work(const Point& point) {
  if (!point.verification) return false;
  const Verification& seen = *point.verification;
  return (seen.work && !mismatches(point.work, *seen.work).empty()) || (seen.executed && contradicts(*seen.executed));
}

bool did_nothing(const Point& point) {
  const bool any = std::ranges::any_of(point.work.bytes, [](const auto& level) { return level.second.total() > 0; });
  return work_source(point) == to_string(WorkSource::counted) && !is_counted_in_part(point) && !any &&
         !(point.work.total_flops() > 0);
}

bool bytes_is_lower_bound(const Point& point) {
  return point.profiled && point.profiled->work_source == WorkSource::modelled;
}

std::string upper_bound_mark(const Point& point) { return bytes_is_lower_bound(point) ? "\u2264 " : ""; }

std::string lower_bound_mark(const Point& point) {
  const bool memory = point.bound.label == BoundLabel::memory && std::isfinite(point.fraction_of_roof());
  return memory && bytes_is_lower_bound(point) ? "\u2265 " : "";
}

bool shows_sources(const Report& report) {
  return std::any_of(report.points.begin(), report.points.end(), [](const Point& point) {
    return point.profiled && (!point.profiled->sources.empty() || point.profiled->time_source != TimeSource::traced ||
                              point.profiled->work_source > WorkSource::counted);
  });
}

std::string where_figures_are_from(const Report& report) {
  if (is_of_cpu(report)) return where_cpu_figures_are_from(report);
  std::array<std::int64_t, 4> times = {};
  std::array<std::int64_t, 5> work = {};
  std::int64_t in_part = 0;
  for (const Point& point : report.points) {
    if (!point.profiled) continue;
    ++times.at(static_cast<std::size_t>(point.profiled->time_source));
    ++(is_counted_in_part(point) ? in_part : work.at(static_cast<std::size_t>(point.profiled->work_source)));
  }
  const auto all = std::accumulate(times.begin(), times.end(), std::int64_t{0});
  static constexpr std::array<std::string_view, 4> kTimes = {
      "traced for every launch",
      "replayed by a profiler, one launch at a time; in the program a launch may be faster or slower",
      "means over launches", "sampled"};
  // "counted by the hardware (73 rows)"; without the number where it is all rows.
  const auto with_rows = [all](std::string_view what, std::int64_t rows) {
    return rows == all ? std::string(what) : fmt::format("{} ({})", what, counted_noun(rows, "row", "rows"));
  };
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times.at(i) > 0) parts.push_back(with_rows(kTimes.at(i), times.at(i)));
  std::string text = fmt::format("Times are {}.", fmt::join(parts, "; "));
  static constexpr std::array<std::string_view, 5> kWork = {"not known", "counted by the hardware",
                                                            "modelled from the shapes", "stated by the kernel author",
                                                            "counted under emulation"};
  parts.clear();
  for (const WorkSource source : {WorkSource::counted, WorkSource::modelled, WorkSource::stated, WorkSource::none}) {
    const auto i = static_cast<std::size_t>(source);
    if (work.at(i) > 0) parts.push_back(with_rows(kWork.at(i), work.at(i)));
  }
  if (in_part > 0) parts.push_back(with_rows("counted by the hardware in part", in_part));
  if (!parts.empty()) text += fmt::format(" FLOPs and bytes per launch are {}.", fmt::join(parts, "; "));
  if (work.at(static_cast<std::size_t>(WorkSource::modelled)) > 0) {
    text +=
        " Modelled bytes count each input and output once and are a lower bound: intensities are upper bounds "
        "(\u2264, arrow to the left), shares of a memory roof lower bounds (\u2265).";
  }
  return text;
}

std::string why_no_work(const Point& point) {
  if (!point.profiled || !work_source(point).empty()) return {};
  if (!point.profiled->not_counted.empty()) return clean_line(point.profiled->not_counted);
  return point.profiled->in_graph ? "counted with its graph" : "not counted";
}

std::string why_no_roofs(const Report& report) {
  const Profile& profile = *report.profile;
  if (profile.counters || report.points.empty() || is_of_cpu(report)) return {};
  const auto has_work = [](const Point& point) { return !work_source(point).empty(); };
  if (std::any_of(report.points.begin(), report.points.end(), has_work)) return {};
  const std::string why =
      profile.why_no_counters.empty() ? "counters were not requested" : clean_line(profile.why_no_counters);
  const std::string_view reason = std::string_view(why).substr(0, why.size() - (why.ends_with('.') ? 1 : 0));
  // A file of another tool has its own times.
  return fmt::format("No roofs, because FLOPs and bytes are not known: {}.{}", reason,
                     shows_sources(report) ? "" : " The times below need no counters.");
}

}  // namespace roofline
