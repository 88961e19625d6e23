#include "import/above_roof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "model/find.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::string_view kShortened = "times end where the next record on the stream starts: they are lower bounds";

std::string sentence_about_cache(const Machine& machine) {
  const bool last_level = find_by(machine.device.caches, &CacheInfo::level, Level::l3) != nullptr;
  return fmt::format("the {} cache ({}) holds part of its data", last_level ? "last-level" : "L2",
                     si(machine.largest_cache_bytes(), "B"));
}

/// Where the FLOPs or bytes of a row are from, whichever limits it, and how to check them.
std::pair<std::string, std::string_view> work_and_check(const Point& point) {
  const std::string_view figure = point.bound.label == BoundLabel::compute ? "FLOPs" : "bytes";
  const bool replayed = point.profiled->time_source == TimeSource::replayed;
  switch (point.profiled->work_source) {
    case WorkSource::modelled:
      return {fmt::format("{} are modelled from shapes, of which the kernel may use a part", figure),
              "count them with a profiler"};
    case WorkSource::stated:
      return {fmt::format("{} are the author's", figure), "count them with a profiler"};
    case WorkSource::counted:
      return {fmt::format("{} are counted, {}", figure, replayed ? "in replays" : "maybe in other launches"), {}};
    case WorkSource::emulated:  // of CPU programs, which are not imported
    case WorkSource::none:
      break;
  }
  return {fmt::format("{} are of unknown source", figure), "count them with a profiler"};
}

/// What is known without a cause in evidence: time, work or roof is wrong.
std::string sentence_about_sources(const Point& point, const Report& report) {
  const Machine& machine = machine_of(report, point);
  const Ceiling* const roof = machine.find(point.bound.limiting_ceiling, point.bound.regime);
  const bool data_sheet = roof != nullptr && roof->is_data_sheet_limit();
  auto [work, check] = work_and_check(point);
  if (check.empty()) check = data_sheet ? "calibrate such a GPU" : "check GPU and clock of the calibration";
  return fmt::format("cause unknown: {}; time is {}; the roof is {}; {}", work, to_string(point.profiled->time_source),
                     data_sheet ? "a data-sheet limit" : "measured", check);
}

std::string sentence_of(AboveRoofReason reason, const Point& point, const Report& report) {
  switch (reason) {
    case AboveRoofReason::shortened:
      return std::string(kShortened);
    case AboveRoofReason::fewer_operations:
      return "Winograd and FFT need fewer operations than the direct convolution";
    case AboveRoofReason::cached:
      return sentence_about_cache(machine_of(report, point));
    case AboveRoofReason::other_gpu:
      return fmt::format("it ran on {}, the roofs are those of {}", clean_line(device_name(report, point)),
                         clean_line(report.machine.device.name));
    case AboveRoofReason::none:
      break;
  }
  return sentence_about_sources(point, report);
}

struct RowAboveRoof {
  Point* point = nullptr;
  AboveRoofReason reason = AboveRoofReason::none;

  /// Those of unknown cause first, then the largest.
  auto order() const { return std::tuple(reason != AboveRoofReason::none, -point->fraction_of_roof()); }
};

/// Why copies of one path are above their roof.
std::string reason_of_copies(const CopySum& copies, const Machine& machine, bool shortened) {
  if (shortened) return std::string(kShortened);
  const bool in_memory =
      copies.path.direction == CopyDirection::device_to_device || copies.path.direction == CopyDirection::memset;
  const bool fits = copies.bytes <= static_cast<double>(copies.copies) * machine.largest_cache_bytes();
  if (in_memory && fits) return sentence_about_cache(machine);
  // Links have roofs of a calibration only, main memory also those of a data sheet.
  return "cause unknown: size and time are traced; check that the roof is of this machine";
}

void explain_copies_above_roof(Report& report, bool shortened) {
  for (const CopySum& copies : report.profile->copies) {
    if (!(fraction_of_roof(copies) > kAboveRoof)) continue;
    for (Saving& saving : report.profile->savings) {
      if (saving.kind != SavingKind::copies || !saving.what.ends_with(": " + to_string(copies.path))) continue;
      saving.evidence += fmt::format(" (above its roof: {})", reason_of_copies(copies, report.machine, shortened));
    }
  }
}

}  // namespace

bool needs_fewer_operations(std::string_view kernel) { return contains_any(lower_case(kernel), {"winograd", "fft"}); }

std::optional<AboveRoofReason> reason_above_roof(const Point& point, const Report& report,
                                                 const ShortenedRecords& shortened) {
  if (!point.profiled || !point.time || !(point.fraction_of_roof() > kAboveRoof)) return std::nullopt;
  if (shortened.kernels.contains(point.profiled->full_name)) return AboveRoofReason::shortened;
  if (point.bound.label == BoundLabel::compute && needs_fewer_operations(point.profiled->full_name)) {
    return AboveRoofReason::fewer_operations;
  }
  const Machine& machine = machine_of(report, point);
  if (partly_cached(point, machine)) return AboveRoofReason::cached;
  const std::string_view ran_on = device_name(report, point);
  const std::string& roofs_of = machine.device.name;
  const bool other = !ran_on.empty() && !roofs_of.empty() && ran_on != roofs_of;
  return other ? AboveRoofReason::other_gpu : AboveRoofReason::none;
}

std::string explain_rows_above_roof(Report& report, const ShortenedRecords& shortened) {
  explain_copies_above_roof(report, shortened.transfers);
  std::vector<RowAboveRoof> rows;
  double time = 0;
  for (Point& point : report.points) {
    const auto reason = reason_above_roof(point, report, shortened);
    if (!reason) continue;
    rows.push_back({&point, *reason});
    time += point.profiled->total_s;
    point.profiled->why_above_roof = clean_line(sentence_of(*reason, point, report));
  }
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.order() < b.order(); });
  constexpr std::size_t kMost = 3;
  constexpr int kColumns = 60;
  std::vector<std::string> largest;
  for (const auto& [point, reason] : rows) {
    if (largest.size() == kMost) break;
    largest.push_back(fmt::format("{} at {} of {} ({})", shorten(clean_line(point->workload.label), kColumns),
                                  percent(point->fraction_of_roof()), clean_line(point->bound.limiting_ceiling),
                                  sentence_of(reason, *point, report)));
  }
  const auto unknown =
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.reason == AboveRoofReason::none; });
  return fmt::format("{} above {} of the roof, {} of the kernel time; {} of unknown cause. Largest: {}",
                     counted_noun(static_cast<std::int64_t>(rows.size()), "row is", "rows are"), percent(kAboveRoof),
                     percent(report.profile->kernel_s > 0 ? time / report.profile->kernel_s : 0), count(unknown),
                     fmt::join(largest, "; "));
}

}  // namespace roofline
