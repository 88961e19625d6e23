// Reasons why two runs are hard to compare.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "report/comparison/comparison.hpp"
#include "report/comparison/program_words.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kOtherClock = 0.01;  // about as much as runs differ anyway

/// The median over the rows that both runs timed; 0 where no clock was read.
double median_clock(const Comparison& comparison, bool after) {
  std::vector<double> clocks;
  for (const PointChange& change : comparison.changes) {
    if (!std::isfinite(change.time_ratio)) continue;
    const Point* point = after ? comparison.after(change) : comparison.before(change);
    if (point->time->clock_hz) clocks.push_back(*point->time->clock_hz);
  }
  if (clocks.empty()) return 0;
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return *middle;
}

/// "what: a before, b now", where the two differ.
void note_difference(std::vector<std::string>& notes, std::string_view what, const std::string& before,
                     const std::string& now) {
  if (before == now) return;
  const auto named = [](const std::string& text) { return text.empty() ? "not known" : clean_line(text); };
  notes.push_back(fmt::format("{}: {} before, {} now", what, named(before), named(now)));
}

/// Sources of a program's times, or of its FLOPs and bytes: "traced", "counted, modelled".
std::string sources_of(const Report& report, bool times) {
  std::set<std::string_view> sources;
  for (const Point& point : report.points) {
    if (!point.profiled) continue;
    sources.insert(times ? to_string(point.profiled->time_source) : to_string(point.profiled->work_source));
  }
  sources.erase("");
  return fmt::format("{}", fmt::join(sources, ", "));
}

}  // namespace

std::vector<std::string> comparison_notes(const Report& base, const Report& now) {
  std::vector<std::string> notes;
  const DeviceInfo& before = base.machine.device;
  const DeviceInfo& after = now.machine.device;
  const bool other_name = before.name != after.name;
  note_difference(notes, other_name ? "different devices" : "different devices with the same name",
                  other_name ? before.name : before.identity, other_name ? after.name : after.identity);
  note_difference(notes, "different drivers", before.driver, after.driver);
  note_difference(notes, "different versions of roofline", base.invocation.tool_version, now.invocation.tool_version);
  note_difference(notes, "different calibrations (times are comparable, shares of the roof are not)",
                  base.machine.measured_at, now.machine.measured_at);
  if (base.profile.has_value() != now.profile.has_value()) {
    notes.emplace_back("one is a program, the other a suite: their rows can't be matched");
  } else if (base.profile) {
    // An import knows the name of its file, not of the program.
    if (!base.profile->folder.empty() && !now.profile->folder.empty()) {
      note_difference(notes, "different programs", program_name(*base.profile), program_name(*now.profile));
    }
    note_difference(notes, "times from different sources (replayed and traced times are never called a regression)",
                    sources_of(base, true), sources_of(now, true));
    note_difference(notes, "FLOPs and bytes from different sources (times are comparable, shares of the roof are not)",
                    sources_of(base, false), sources_of(now, false));
    for (std::string& note : program_notes(base, now)) notes.push_back(std::move(note));
  }
  const Comparison comparison = comparison_of(base, now);
  const double clock_before = median_clock(comparison, false);
  const double clock_now = median_clock(comparison, true);
  if (clock_before > 0 && clock_now > 0 && std::abs(std::log(clock_now / clock_before)) > std::log1p(kOtherClock)) {
    note_difference(notes, "different clocks (median over the kernels)", si(clock_before, "Hz"), si(clock_now, "Hz"));
  }
  const auto note_unfinished = [&](const char* which, const Report& report) {
    if (report.complete) return;
    notes.push_back(
        fmt::format("the {} run is incomplete: {} of {} rows", which, report.points.size(), report.rows_planned));
  };
  note_unfinished("earlier", base);
  note_unfinished("later", now);
  if (base.cancelled) notes.emplace_back("the earlier run was cancelled: rows may be missing");
  if (now.cancelled) notes.emplace_back("the later run was cancelled: rows may be missing");
  return notes;
}

}  // namespace roofline
