// A comparison in words. It compares times only: the distance to a roof depends on the calibration.
#include "report/comparison/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "report/comparison/program_words.hpp"
#include "report/comparison/row_conditions.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// A replayed launch takes longer than one in its program, which is not a slowdown.
bool same_time_source(const Point* before, const Point* now) {
  if (before == nullptr || now == nullptr || !before->profiled || !now->profiled) return true;
  const auto replayed = [](const Point& point) { return point.profiled->time_source == TimeSource::replayed; };
  return replayed(*before) == replayed(*now);
}

/// "a, b and 3 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
}

std::string kernels(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "kernel" : "kernels"); }

std::vector<const PointChange*> with(const Comparison& comparison, Change kind) {
  std::vector<const PointChange*> found;
  for (const PointChange& change : comparison.changes) {
    if (change.change == kind) found.push_back(&change);
  }
  return found;
}

bool is_repeated_change(const PointChange& change) { return change.basis != RatioBasis::one_run; }

/// "3" or, if rows differ, "2 to 3".
std::string repetitions_text(const std::vector<std::int64_t>& counts) {
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  return *least == *most ? fmt::format("{}", *least) : fmt::format("{} to {}", *least, *most);
}

/// What the intervals cover. Those of a single run do not cover the scatter between runs, which a gate needs most.
std::string covered_by_intervals(const Comparison& comparison) {
  std::vector<std::int64_t> before, now;
  std::size_t of_one_run = 0, compared = 0;
  bool rounds = false;
  for (const PointChange& change : comparison.changes) {
    if (!is_compared(change)) continue;
    ++compared;
    if (!is_repeated_change(change)) ++of_one_run;
    if (!is_repeated_change(change)) continue;
    before.push_back(change.repetitions_before);
    now.push_back(change.repetitions_now);
    rounds = rounds || change.basis == RatioBasis::rounds;
  }
  if (compared == 0) return {};
  if (before.empty()) {
    return "Each interval covers one run only; several runs per side also cover the scatter between runs.";
  }
  const std::string except =
      of_one_run > 0 ? fmt::format("; {} of {} rows have the interval of one run", of_one_run, compared) : "";
  if (rounds) {
    return fmt::format(
        "Each ratio is of runs that took turns, not of the medians beside it. Intervals cover the scatter between {} "
        "rounds{}.",
        repetitions_text(now), except);
  }
  return fmt::format("Intervals cover the scatter between runs: {} before, {} now{}.", repetitions_text(before),
                     repetitions_text(now), except);
}

/// "3 of 22 kernels got slower, the most softmax (cuda): 1.05× the time."
std::string most_changed(const Comparison& comparison, Change kind, std::size_t compared) {
  const std::vector<const PointChange*> found = with(comparison, kind);
  if (found.empty()) return {};
  const auto farther = [](const PointChange* a, const PointChange* b) {
    return std::abs(std::log(a->time_ratio)) < std::abs(std::log(b->time_ratio));
  };
  const PointChange& most = **std::max_element(found.begin(), found.end(), farther);
  const bool one = found.size() == 1;
  return fmt::format("{} of {} got {}{} {}: {:.2f}× the time.", found.size(), kernels(compared), to_string(kind),
                     one ? "," : ", the most", point_name(comparison.row(most)), most.time_ratio);
}

/// "Wall time 6.9 s before, 6.5 s now: 0.942×."
std::string changed_sum(std::string_view what, double before, double now) {
  const std::string ratio = before > 0 && now > 0 ? fmt::format(": {:.3f}×", now / before) : "";
  return fmt::format("{} {} before, {} now{}.", what, duration(before), duration(now), ratio);
}

/// "67 kernels are in both: 82 % of the kernels' time before, 79 % now."
std::string matched(const Comparison& comparison) {
  std::size_t both = 0;
  double before = 0, now = 0;
  for (const PointChange& change : comparison.changes) {
    if (comparison.before(change) == nullptr || comparison.after(change) == nullptr) continue;
    ++both;
    before += cost_of(*comparison.before(change));
    now += cost_of(*comparison.after(change));
  }
  const auto share = [](double part, const Report& of) {
    double all = 0;
    for (const Point& point : of.points) all += cost_of(point);
    return all > 0 ? percent(part / all) : kAbsent;
  };
  return fmt::format("{} {} in both runs: {} of kernel time before, {} now.", kernels(both), both == 1 ? "is" : "are",
                     share(before, *comparison.base), share(now, *comparison.now));
}

/// Totals over different numbers of launches are not comparable.
std::string other_launches(const Comparison& comparison) {
  constexpr double kSameCount = 0.1;
  const auto launches = [](const Report& report) {
    std::int64_t sum = 0;
    for (const Point& point : report.points) sum += point.profiled ? point.profiled->launches : 0;
    return sum;
  };
  const std::int64_t before = launches(*comparison.base), now = launches(*comparison.now);
  if (before <= 0 || now <= 0) return {};
  if (std::abs(std::log(static_cast<double>(now) / static_cast<double>(before))) < std::log1p(kSameCount)) return {};
  return fmt::format("Launches: {} before, {} now. The totals cover different amounts of work.", count(before),
                     count(now));
}

/// The totals of the programs, and the kernels whose totals changed most.
std::vector<std::string> program_changes(const Comparison& comparison) {
  constexpr std::size_t kMost = 3;
  constexpr double kVisible = 0.005;  // of the kernels' time
  const Profile &before = *comparison.base->profile, &now = *comparison.now->profile;
  std::vector<const PointChange*> changed;
  for (const PointChange& change : comparison.changes) {
    if (std::abs(comparison.total_change(change)) > kVisible * before.kernel_s) changed.push_back(&change);
  }
  std::stable_sort(changed.begin(), changed.end(), [&](const PointChange* a, const PointChange* b) {
    return std::abs(comparison.total_change(*a)) > std::abs(comparison.total_change(*b));
  });
  std::vector<std::string> sentences = {changed_sum("Wall time", before.wall_s, now.wall_s),
                                        changed_sum("Kernel time", before.kernel_s, now.kernel_s)};
  std::string most;
  for (std::size_t i = 0; i < std::min(changed.size(), kMost); ++i) {
    most += fmt::format("{}{} {}", most.empty() ? "" : ", ", point_name(comparison.row(*changed[i])),
                        total_change_text(comparison, *changed[i]));
  }
  if (!most.empty()) sentences.push_back(fmt::format("Largest changes in total: {}.", most));
  sentences.push_back(matched(comparison));
  if (std::string launches = other_launches(comparison); !launches.empty()) sentences.push_back(std::move(launches));
  return sentences;
}

}  // namespace

const Point* Comparison::before(const PointChange& change) const {
  return change.before ? &base->points[*change.before] : nullptr;
}

const Point* Comparison::after(const PointChange& change) const {
  return change.now ? &now->points[*change.now] : nullptr;
}

const Point& Comparison::row(const PointChange& change) const {
  return change.now ? now->points[*change.now] : base->points[change.before.value()];
}

bool Comparison::of_programs() const { return base->profile && now->profile; }

double Comparison::total_change(const PointChange& change) const {
  const auto total = [](const Point* point) { return point == nullptr ? 0 : cost_of(*point); };
  return total(after(change)) - total(before(change));
}

bool Comparison::is_broken(const PointChange& change) const {
  const Point* later = after(change);
  return change.change == Change::only_before && later != nullptr && later->status == PointStatus::failed;
}

bool Comparison::is_regression(const PointChange& change) const {
  if (program_decides() || !is_judged()) return false;
  return is_broken(change) || (same_time_source(before(change), after(change)) && regressed(change, max_slowdown));
}

bool Comparison::compared_nothing() const {
  if (program_decides()) return !program->deciding().known();
  return (gate || !program) && std::ranges::none_of(changes, is_compared);
}

Comparison comparison_of(const Report& base, const Report& now, double max_slowdown) {
  // A row that fails the gate must not be "no difference" in the table.
  Comparison comparison{&base, &now, max_slowdown, compare_runs(base, now, std::min(kRunToRun, max_slowdown))};
  comparison.program = program_change({program_costs_of(base)}, {program_costs_of(now)}, max_slowdown);
  return comparison;
}

Comparison comparison_of(const PooledRuns& base, const PooledRuns& now, double max_slowdown) {
  Comparison comparison{&base.report, &now.report, max_slowdown,
                        compare_runs(base, now, max_slowdown, std::min(kRunToRun, max_slowdown))};
  comparison.base_runs = base.runs;
  comparison.now_runs = now.runs;
  comparison.program = program_change(base.programs, now.programs, max_slowdown);
  return comparison;
}

Comparison comparison_of(const Runs& runs) { return comparison_of(runs.base(), runs.last()); }

std::string verdict(const Comparison& comparison, const PointChange& change) {
  const auto status_of = [](const Point* point, std::string_view when, std::string_view fallback) {
    if (point == nullptr) return std::string(fallback);
    return fmt::format("{} {}", to_string(point->status), when);
  };
  switch (change.change) {
    case Change::same:
      return "no difference";
    case Change::slower:
      if (is_repeated_change(change) && change.ratio_ci95.low <= 1 + comparison.max_slowdown) return "slower";
      return comparison.is_regression(change) ? fmt::format("slower > {}", slowdown_limit(comparison.max_slowdown))
                                              : "slower";
    case Change::only_before:
      return status_of(comparison.after(change), "now", "only before");
    case Change::only_now:
      return status_of(comparison.before(change), "before", "only now");
    default:
      return std::string(to_string(change.change));
  }
}

std::string_view pass_or_fail(const Comparison& comparison, const PointChange& change) {
  return comparison.is_regression(change) ? "fail" : "pass";
}

std::pair<std::string, std::string> comparison_names(const Comparison& comparison) {
  const std::string &before = comparison.base->machine.device.name, &now = comparison.now->machine.device.name;
  return before == now ? std::pair<std::string, std::string>("before", "now") : names_apart(before, now);
}

std::string comparison_headline(const Comparison& comparison) {
  std::string text;
  if (comparison.base->machine.device.name != comparison.now->machine.device.name) {
    const auto [from, to] = comparison_names(comparison);
    text = fmt::format("{} \u2192 {}: ", from, to);
  }
  if (comparison.program_decides()) {
    const std::vector<std::string> sentences = program_sentences(*comparison.program);
    return text + (sentences.empty() ? "no time is known on both sides" : sentences.front());
  }
  std::size_t compared = 0;
  for (const PointChange& change : comparison.changes) compared += is_compared(change) ? 1 : 0;
  if (compared == 0) return text + "no kernel was timed in both runs";
  std::vector<std::string> parts;
  const auto add = [&](Change kind, std::string_view word) {
    const std::vector<const PointChange*> found = with(comparison, kind);
    if (found.empty()) return;
    double most = 1;
    for (const PointChange* change : found) most = std::max({most, change->time_ratio, 1 / change->time_ratio});
    const std::string total = parts.empty() ? fmt::format("{} of {} {}", found.size(), compared, word)
                                            : fmt::format("{} {}", found.size(), word);
    parts.push_back(fmt::format("{}, {}{:.2f}\u00d7", total, found.size() > 1 ? "up to " : "", most));
  };
  const bool mostly_slower = with(comparison, Change::slower).size() > with(comparison, Change::faster).size();
  if (mostly_slower) add(Change::slower, "slower");
  add(Change::faster, "faster");
  if (!mostly_slower) add(Change::slower, "slower");
  const auto broke = std::ranges::count_if(comparison.changes,
                                           [&](const PointChange& change) { return comparison.is_broken(change); });
  if (broke > 0) parts.push_back(fmt::format("{} timed before and failed now", broke));
  const std::size_t undecided = with(comparison, Change::undecided).size();
  if (undecided > 0 && undecided == compared) return text + fmt::format("undecided in {}", kernels(compared));
  if (parts.empty()) {
    const std::string open = undecided > 0 ? fmt::format(", undecided in {}", undecided) : "";
    return text + fmt::format("no difference in {}{}", kernels(compared - undecided), open);
  }
  if (undecided > 0) parts.push_back(fmt::format("{} undecided", undecided));
  return text + fmt::format("{}", fmt::join(parts, "; "));
}

std::string outcome_line(const Comparison& comparison) {
  const std::string regressions = regression_line(comparison);
  if (!regressions.empty()) return comparison.gate ? "Fail: " + regressions : capitalised(regressions);
  if (!comparison.now->complete) {
    return fmt::format("No verdict: the later run is incomplete ({} of {} rows).", comparison.now->points.size(),
                       comparison.now->rows_planned);
  }
  if (comparison.compared_nothing()) {
    return comparison.program_decides() ? "No verdict: no time of the programs is known on both sides."
                                        : "No verdict: no kernel was timed in both runs.";
  }
  if (!comparison.gate) return comparison_headline(comparison);
  if (comparison.program_decides()) return step_outcome(*comparison.program);
  const std::size_t undecided = with(comparison, Change::undecided).size();
  if (undecided > 0) {
    return fmt::format("Pass, but undecided for {} of {}; the others are not slower by more than {}.", undecided,
                       kernels(comparison.changes.size()), percent(comparison.max_slowdown));
  }
  return fmt::format("Pass: no kernel got slower by more than {}.", percent(comparison.max_slowdown));
}

std::vector<const PointChange*> worst_first(const Comparison& comparison) {
  static constexpr std::array<Change, 7> kOrder = {Change::slower, Change::only_before, Change::undecided,
                                                   Change::faster, Change::only_now,    Change::same,
                                                   Change::untimed};
  std::vector<const PointChange*> rows;
  for (const PointChange& change : comparison.changes) rows.push_back(&change);
  const auto rank = [&](const PointChange* change) {
    const auto kind = std::find(kOrder.begin(), kOrder.end(), change->change) - kOrder.begin();
    return std::pair(comparison.is_regression(*change) ? 0 : 1, kind);
  };
  const auto ratio = [](const PointChange* change) {
    return std::isfinite(change->time_ratio) ? change->time_ratio : 0;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const PointChange* a, const PointChange* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (a->change == Change::faster) return ratio(a) < ratio(b);
    return a->change == Change::slower && ratio(a) > ratio(b);
  });
  return rows;
}

std::string total_change_text(const Comparison& comparison, const PointChange& change) {
  return signed_duration(comparison.total_change(change));
}

std::string ratio_text(const PointChange& change) {
  return is_compared(change) ? fmt::format("{:.3f}", change.time_ratio) : kAbsent;
}

std::string ratio_interval(const PointChange& change) {
  if (!is_compared(change)) return {};
  return fmt::format("{:.3f}\u2013{:.3f}", change.ratio_ci95.low, change.ratio_ci95.high);
}

std::string regression_line(const Comparison& comparison) {
  if (comparison.program_decides()) {
    return comparison.program_regressed() ? step_regression(*comparison.program) : "";
  }
  std::vector<std::string> slower;
  std::vector<std::string> failed;
  std::size_t compared = 0;
  bool repeated = false;
  for (const PointChange& change : comparison.changes) {
    if (is_compared(change)) ++compared;
    if (!comparison.is_regression(change)) continue;
    repeated = repeated || is_repeated_change(change);
    const std::string name = point_name(comparison.row(change));
    if (is_compared(change)) {
      slower.push_back(fmt::format("{} {:.3f}x", name, change.time_ratio));
    } else {
      failed.push_back(name);
    }
  }
  std::string text;
  if (!slower.empty()) {
    const std::string how =
        repeated
            ? fmt::format("got slower, and their intervals reach {}", slowdown_limit(comparison.max_slowdown))
            : fmt::format("got slower by more than {}, beyond the intervals", slowdown_limit(comparison.max_slowdown));
    text = fmt::format("{} of {} {}: {}", slower.size(), kernels(compared), how, some_of(slower));
  }
  if (!failed.empty()) {
    text += fmt::format("{}{} timed before and failed now: {}", text.empty() ? "" : "; ",
                        failed.size() == 1 ? "1 kernel was" : fmt::format("{} kernels were", failed.size()),
                        some_of(failed));
  }
  return text;
}

namespace {

std::vector<std::string> findings_of(const Comparison& comparison, bool with_counts) {
  std::vector<std::string> sentences;
  if (comparison.program) sentences = program_sentences(*comparison.program);
  if (comparison.of_steps()) return sentences;
  const bool of_host = comparison.program && comparison.program->of_host;
  if (of_host && comparison.changes.empty()) return sentences;
  if (comparison.of_programs() && !of_host)
    std::ranges::move(program_changes(comparison), std::back_inserter(sentences));
  std::vector<std::string> failed;
  std::map<std::string, std::vector<std::string>> missing;  // by reason
  std::size_t uncompared = 0;
  for (const PointChange& change : comparison.changes) {
    if (is_compared(change)) continue;
    const std::string name = point_name(comparison.row(change));
    ++uncompared;
    if (comparison.is_broken(change)) {
      failed.push_back(name);
    } else {
      missing[verdict(comparison, change)].push_back(name);
    }
  }
  const std::size_t compared = comparison.changes.size() - uncompared;
  if (!failed.empty() && with_counts) {
    sentences.push_back(fmt::format("Timed before and failed now: {}.", some_of(failed)));
  }
  if (compared == 0) sentences.emplace_back("The runs have no timed kernel in common.");
  for (const Change kind : {Change::slower, Change::faster}) {
    const std::string sentence = with_counts ? most_changed(comparison, kind, compared) : "";
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  const std::size_t same = with(comparison, Change::same).size();
  if (same > 0 && with_counts) {
    sentences.push_back(same == compared ? fmt::format("No difference in any of {}.", kernels(compared))
                                         : fmt::format("No difference in {} of {}.", same, compared));
  }
  std::vector<std::string> undecided, conditions;
  for (const PointChange& change : comparison.changes) {
    const std::string name = point_name(comparison.row(change));
    if (change.change == Change::undecided) undecided.push_back(name);
    if (!is_compared(change)) continue;
    const std::string differs = conditions_text(conditions_of(comparison.before(change), comparison.after(change)));
    if (!differs.empty()) conditions.push_back(fmt::format("{} ({})", name, differs));
  }
  if (!undecided.empty()) {
    sentences.push_back(fmt::format("Undecided, as the interval is too wide: {}.", some_of(undecided)));
  }
  for (const auto& [reason, names] : missing) {
    sentences.push_back(fmt::format("Not compared, {}: {}.", reason, some_of(names)));
  }
  if (!conditions.empty()) sentences.push_back(fmt::format("Other conditions: {}.", some_of(conditions)));
  if (std::string covered = covered_by_intervals(comparison); !covered.empty()) sentences.push_back(std::move(covered));
  return sentences;
}

}  // namespace

std::vector<std::string> comparison_details(const Comparison& comparison) {
  std::vector<std::string> sentences = findings_of(comparison, false);
  const std::string outcome = outcome_line(comparison);
  std::erase_if(sentences, [&](const std::string& sentence) { return outcome.find(sentence) != std::string::npos; });
  return sentences;
}

std::vector<std::string> comparison_findings(const Comparison& comparison) { return findings_of(comparison, true); }

}  // namespace roofline
