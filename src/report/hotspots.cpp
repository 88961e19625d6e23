// The groups of verdicts, and the savings of a program that concern more than one kernel's own time.
#include "report/hotspots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "report/cpu_findings.hpp"
#include "report/diagnosis/cause_lines.hpp"
#include "report/host_causes.hpp"
#include "report/profile_findings.hpp"
#include "report/saving_order.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::string_view kHost = "host";  ///< a cause of the host

/// With a full stop: an action follows it.
std::string sentence(const std::string& text) { return text.empty() || text.ends_with('.') ? text : text + '.'; }

/// A kernel's own time is the subject of its verdict. A cause of the program's is a subject of its own.
bool of_one_kernel(const Saving& saving) {
  return saving.cause == SavingCause::kernel &&
         (saving.kind == SavingKind::kernel || saving.kind == SavingKind::traffic);
}

/// Gains of rows reduced to what a program's savings leave: savings are per step, and disjoint.
double disjoint_gain(const Profile& profile, const std::vector<std::size_t>& rows) {
  double seconds = 0;
  for (const Saving& saving : profile.savings) {
    if (!of_one_kernel(saving) || saving.point < 0) continue;
    const bool of_rows = std::find(rows.begin(), rows.end(), static_cast<std::size_t>(saving.point)) != rows.end();
    seconds += of_rows ? saving.seconds : 0;
  }
  return seconds;
}

/// Their gaps to a roof are not known, but a program's savings may have what their warps wait for.
bool without_roofs(const Report& report, const std::vector<std::size_t>& rows) {
  return std::none_of(rows.begin(), rows.end(),
                      [&](std::size_t row) { return std::isfinite(report.points[row].bound.attainable_time_s); });
}

/// "GPU idle: … (train.py:31 main)."
std::string with_line(const Saving& saving) {
  return saving.line.empty() ? sentence(saving.what) : fmt::format("{} ({}).", saving.what, saving.line);
}

/// The one line of the program that launches them, for kernels whose own lines are not known: " Launched at train.py:31
/// main." Loops have their lines in their names, those of libraries the line that calls them.
std::string launched_at(const Report& report, const std::vector<std::size_t>& rows) {
  const auto is_loop = [&](std::size_t row) {
    const auto& profiled = report.points[row].profiled;
    return profiled && profiled->loop;
  };
  const auto line_of = [&](std::size_t row) {
    const auto& profiled = report.points[row].profiled;
    return profiled ? profiled->loop ? profiled->loop->called_from : profiled->line : std::string();
  };
  const std::string line = line_of(rows.front());
  const bool all = std::all_of(rows.begin(), rows.end(), [&](std::size_t row) { return line_of(row) == line; });
  if (!all || line.empty()) return "";
  return fmt::format(" {} {}.", is_loop(rows.front()) ? "Called from" : "Launched at", line);
}

/// Memory findings that precede all savings in the report come first here too; the others follow the savings of time.
void put_memory(std::vector<Hotspot>& all, const Report& report) {
  const auto is_memory = [](const Hotspot& hotspot) { return hotspot.memory; };
  const auto rest = std::stable_partition(all.begin(), all.end(), is_memory);
  std::ptrdiff_t first = 0;
  for (const Saving& saving : report.profile ? report.profile->savings : std::vector<Saving>{}) {
    if (saving.kind != SavingKind::memory) break;
    ++first;
  }
  const auto end_of_times =
      std::find_if(rest, all.end(), [](const Hotspot& hotspot) { return !(hotspot.seconds > 0); });
  std::rotate(all.begin() + std::min(first, rest - all.begin()), rest, end_of_times);
}

/// True for kernels of libraries alone, which the program can change only by calling something else.
bool of_library(const Hotspot& hotspot, const Report& report) {
  return !hotspot.cause && !hotspot.rows.empty() &&
         std::all_of(hotspot.rows.begin(), hotspot.rows.end(), [&](std::size_t row) {
           const std::optional<ProfiledKind>& profiled = report.points[row].profiled;
           return profiled && !profiled->loop && is_library_kernel(profiled->full_name);
         });
}

/// True for a cause that the program has at a line, and that a change of this line removes.
bool is_specific(const Hotspot& hotspot) {
  static constexpr std::array kGeneral = {SavingCause::kernel, SavingCause::fusion, SavingCause::between_kernels,
                                          SavingCause::late_stream, SavingCause::unknown_idle};
  return hotspot.cause && !hotspot.one_off && !hotspot.memory && !hotspot.line.empty() &&
         std::find(kGeneral.begin(), kGeneral.end(), *hotspot.cause) == kGeneral.end();
}

/// Where what could be better in kernels of libraries comes first, a specific cause of a considerable part of that time
/// is the better answer.
void put_specific_first(std::vector<Hotspot>& all, const Report& report) {
  constexpr double kGoodPart = 0.5;
  if (all.empty() || !of_library(all.front(), report)) return;
  const auto specific = std::find_if(all.begin(), all.end(), is_specific);
  if (specific == all.end() || specific->seconds < kGoodPart * all.front().seconds) return;
  std::rotate(all.begin(), specific, std::next(specific));
}

/// A library function that is inlined into a loop is a cause of the host and a part of the loop: the loop's saving is
/// at most the rest of its time.
void share_lines(std::vector<Hotspot>& all, const Report& report, const std::vector<HostCause>& causes) {
  for (Hotspot& hotspot : all) {
    double total_s = 0, claimed_s = 0;
    for (const std::size_t row : hotspot.rows) {
      const std::optional<ProfiledKind>& kind = report.points[row].profiled;
      if (!kind || !kind->loop) continue;
      total_s += kind->total_s;
      for (const HostCause& cause : causes)
        claimed_s += cause.line == kind->line && !cause.line.empty() ? cause.seconds : 0;
    }
    if (claimed_s > 0) hotspot.seconds = std::min(hotspot.seconds, total_s - claimed_s);
  }
  std::erase_if(all, [](const Hotspot& hotspot) { return hotspot.seconds <= 0 && !hotspot.rows.empty(); });
}

}  // namespace

std::vector<Hotspot> hotspots_of(const Report& report, const std::vector<Verdict>& verdicts) {
  const auto of_library = [&](std::size_t row) {
    const std::optional<ProfiledKind>& kind = report.points[row].profiled;
    return kind && (is_library_kernel(kind->full_name) || is_generated_kernel(kind->full_name));
  };
  std::vector<Hotspot> all;
  const bool steps = report.profile && report.profile->steps;
  const double count = steps ? static_cast<double>(report.profile->steps->count) : 1;
  for (VerdictGroup& group : where_to_spend_time(verdicts, report)) {
    Hotspot hotspot{.kind = group.kind,
                    .what = {},
                    .seconds = group.total_gain_s,
                    .text = std::move(group.text),
                    .evidence = {},
                    .action = std::move(group.action),
                    .rows = std::move(group.rows),
                    .beside = group.by_clock,
                    .actionable = group.actionable};
    const auto first = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return !hotspot.rows.empty() && verdict.row == hotspot.rows.front();
    });
    hotspot.of_library = std::ranges::all_of(hotspot.rows, of_library);
    if (first != verdicts.end()) {
      hotspot.evidence = evidence_text(*first);
      const bool of_loop = report.points[first->row].profiled && report.points[first->row].profiled->loop;
      if ((first->actionable || of_loop) && first->line.empty()) hotspot.text += launched_at(report, hotspot.rows);
    }
    const bool waits = hotspot.kind == VerdictKind::slow && without_roofs(report, hotspot.rows);
    if (report.profile && (waits || (steps && hotspot.seconds > 0))) {
      const double gain = disjoint_gain(*report.profile, hotspot.rows) / count;
      if (gain > 0 || !waits) hotspot.seconds = gain;
    }
    all.push_back(std::move(hotspot));
  }
  for (const Saving& saving : report.profile ? report.profile->savings : std::vector<Saving>{}) {
    if (of_one_kernel(saving)) continue;
    all.push_back({.kind = VerdictKind::slow,
                   .what = std::string(to_string(saving.kind)),
                   .seconds = saving.seconds / count,
                   .text = with_line(saving),
                   .evidence = saving.evidence,
                   .action = saving.action,
                   .rows = {},
                   .beside = false,
                   .one_off = saving.one_off,
                   .cause = saving.cause,
                   .line = saving.line,
                   .memory = saving.kind == SavingKind::memory});
    if (saving.point >= 0 && static_cast<std::size_t>(saving.point) < report.points.size())
      all.back().rows.push_back(static_cast<std::size_t>(saving.point));
  }
  std::vector<HostCause> causes = host_causes(report);
  if (!causes.empty()) share_lines(all, report, causes);
  std::vector<Hotspot> of_host;
  for (HostCause& cause : causes) {
    of_host.push_back({.kind = VerdictKind::slow,
                       .what = std::string(kHost),
                       .seconds = cause.seconds,
                       .text = std::move(cause.text),
                       .evidence = {},
                       .action = std::move(cause.action),
                       .rows = {},
                       .beside = false,
                       .line = std::move(cause.line)});
  }
  std::ranges::copy(of_host, std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(), [](const Hotspot& a, const Hotspot& b) {
    return of_start_up(a) != of_start_up(b) ? of_start_up(b) : larger_saving(a.seconds, b.seconds);
  });
  // Causes of the host stay in their own order: a specific one may be before a larger general one.
  for (auto next = of_host.begin(); Hotspot & hotspot : all) {
    if (hotspot.what == kHost) hotspot = *next++;
  }
  put_causes_first(all, [](const Hotspot& hotspot) { return hotspot.cause; });
  put_specific_first(all, report);
  put_memory(all, report);
  return all;
}

std::string evidence_text(const Verdict& verdict) {
  std::string text;
  for (const auto& [name, value] : verdict.evidence)
    text += fmt::format("{}{} {}", text.empty() ? "" : " \u00b7 ", name, value);
  return text;
}

std::string grounds_text(const Verdict& verdict) {
  std::string text = evidence_text(verdict);
  for (const std::string& part : {verdict.rule, verdict.source}) {
    if (!part.empty()) text += (text.empty() ? "" : " \u00b7 ") + part;
  }
  return text;
}

std::string saving_text(double seconds) {
  if (!std::isfinite(seconds)) return "potential saving not known";
  if (seconds == 0) return "no potential saving";
  return duration(seconds) + " potential saving";
}

std::string_view kind_words(VerdictKind kind) {
  static constexpr std::array<std::string_view, 5> kWords = {"slow", "unexplained", "at its roof", "measure again",
                                                             "no roof"};
  return kWords.at(static_cast<std::size_t>(kind));
}

}  // namespace roofline
