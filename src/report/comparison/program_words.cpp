#include "report/comparison/program_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/step_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr const char* kMinus = "\u2212";
constexpr const char* kNoIntervalOfRuns = "One run per side has no interval: pass several to decide.";

std::string arrow(double before_s, double now_s) {
  return fmt::format("{} \u2192 {}", duration(before_s), duration(now_s));
}

/// "32.0 ms → 24.1 ms, −24.7 % (95 %: −25.3 % to −24.1 %)".
std::string time_text(const TimeChange& time) {
  const std::string change =
      fmt::format("{}, {}", arrow(time.before.seconds, time.now.seconds), relative_change(time.ratio));
  if (!time.ratio_ci95.known()) return change + " (no interval)";
  const std::string words = time.change == Change::same        ? ": no difference"
                            : time.change == Change::undecided ? ": undecided"
                                                               : "";
  return fmt::format("{} (95 %: {} to {}){}", change, relative_change(time.ratio_ci95.low),
                     relative_change(time.ratio_ci95.high), words);
}

std::string why_whole_runs(const ProgramChange& change) {
  if (change.no_steps_before && change.no_steps_now) return "Neither side has steps";
  return change.no_steps_before ? "The earlier side has no steps" : "The later side has no steps";
}

/// The sum without profiler overhead, and the part that changed most.
std::string start_up_sentence(const ProgramChange& change) {
  const double before = change.before.start_up_s, now = change.now.start_up_s;
  if (!std::isfinite(before) || !std::isfinite(now) || change.start_up.empty()) return {};
  const auto difference = [](const StartUpChange& part) { return std::abs(part.now_s - part.before_s); };
  const StartUpChange& most =
      *std::max_element(change.start_up.begin(), change.start_up.end(),
                        [&](const StartUpChange& a, const StartUpChange& b) { return difference(a) < difference(b); });
  const std::string sum = "Start-up without profiler overhead: " + arrow(before, now);
  constexpr double kSmall = 0.02;  // of the start-up
  if (difference(most) < kSmall * std::max(before, now)) return sum + ".";
  return fmt::format("{}; the largest change is {}: {}.", sum, name_of(most.part), arrow(most.before_s, most.now_s));
}

std::string slow_steps_sentence(const ProgramChange& change) {
  const auto slowest = [](const ProgramCost& cost) {
    return std::isfinite(cost.slowest_s) ? duration(cost.slowest_s) : std::string("none");
  };
  if (!std::isfinite(change.before.slow_s) || !std::isfinite(change.now.slow_s)) return {};
  const std::string text = fmt::format("95th percentile of a step: {}", arrow(change.before.slow_s, change.now.slow_s));
  if (!std::isfinite(change.before.slowest_s) && !std::isfinite(change.now.slowest_s)) return text + ".";
  return fmt::format("{}; slowest slow step: {} \u2192 {}.", text, slowest(change.before), slowest(change.now));
}

std::string covered_by_step_intervals(const ProgramChange& change) {
  if (change.typical.basis == RatioBasis::runs) return "The intervals cover the scatter between runs.";
  if (!change.unrecorded && (change.before.of_percentiles || change.now.of_percentiles)) {
    return "The interval is the 5th to 95th percentile of the steps: too few steps, or a file from an earlier "
           "version.";
  }
  return "The intervals cover the spread of steps within one run per side, not the scatter between runs.";
}

/// "NVIDIA H200 (8)": each GPU that a program used, with its number.
std::string gpus_of(const Profile& profile) {
  std::map<std::string, int> gpus;
  for (const WallTime& wall : profile.devices) ++gpus[wall.device_name];
  std::string text;
  for (const auto& [name, number] : gpus) {
    text += (text.empty() ? "" : ", ") + clean_line(name) + (number > 1 ? fmt::format(" ({})", number) : "");
  }
  return text.empty() ? "none" : text;
}

void note_if_other(std::vector<std::string>& notes, std::string_view what, std::string_view before,
                   std::string_view now) {
  if (before != now) notes.push_back(fmt::format("{}: {} before, {} now", what, before, now));
}

}  // namespace

std::string slowdown_limit(double max_slowdown) { return fmt::format("{} %", number(100 * max_slowdown, 3)); }

std::string relative_change(double ratio) {
  if (!std::isfinite(ratio)) return kAbsent;
  const double tenths = std::round(1000 * std::abs(ratio - 1));
  const char* sign = tenths == 0 ? "" : ratio < 1 ? kMinus : "+";
  return fmt::format("{}{:.1f} %", sign, tenths / 10);
}

std::string signed_duration(double seconds) {
  if (seconds == 0) return "0 s";
  return fmt::format("{}{}", seconds < 0 ? kMinus : "+", duration(std::abs(seconds)));
}

std::vector<std::string> program_sentences(const ProgramChange& change) {
  std::vector<std::string> sentences;
  if (change.of_host) {
    if (change.mean.known()) sentences.push_back(fmt::format("Wall time: {}.", time_text(change.mean)));
    if (change.typical.known()) sentences.push_back(fmt::format("CPU time: {}.", time_text(change.typical)));
    if (change.mean.known()) {
      sentences.emplace_back(change.mean.basis == RatioBasis::runs ? "The intervals cover the scatter between runs."
                                                                   : kNoIntervalOfRuns);
    }
    return sentences;
  }
  if (change.unit == CostUnit::run) {
    sentences.push_back(fmt::format("{}: whole runs are compared.", why_whole_runs(change)));
    if (change.typical.known()) sentences.push_back(fmt::format("GPU busy, per GPU: {}.", time_text(change.typical)));
    return sentences;
  }
  const auto add = [&](std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  };
  if (change.typical.known()) {
    add(fmt::format("A step{}: {}.", change.unrecorded ? ", while nothing was recorded" : "",
                    time_text(change.typical)));
  }
  if (change.mean.known()) {
    add(fmt::format("Mean {}step, slow steps included: {}.", change.unrecorded ? "recorded " : "",
                    time_text(change.mean)));
  }
  add(slow_steps_sentence(change));
  add(start_up_sentence(change));
  if (change.typical.known()) add(covered_by_step_intervals(change));
  return sentences;
}

std::string_view name_of_deciding(const ProgramChange& change) { return change.of_host ? "wall time" : "step"; }

std::string step_regression(const ProgramChange& change) {
  if (!change.is_regression()) return {};
  const TimeChange& time = change.deciding();
  const std::string how = time.basis == RatioBasis::one_run
                              ? fmt::format("by more than {}, beyond the interval", slowdown_limit(change.max_slowdown))
                              : fmt::format("and its interval reaches {}", slowdown_limit(change.max_slowdown));
  const char* what = change.of_host ? "The program" : &time == &change.mean ? "The mean step" : "A step";
  return fmt::format("{} got slower {}: {}", what, how, time_text(time));
}

std::string step_outcome(const ProgramChange& change) {
  if (const std::string regression = step_regression(change); !regression.empty()) return "Fail: " + regression;
  const TimeChange& time = change.of_host ? change.mean : change.typical;
  if (change.of_host && !time.ratio_ci95.known()) return fmt::format("Pass, but undecided. {}", kNoIntervalOfRuns);
  if (time.change == Change::undecided && !(time.ratio_ci95.high < 1 + change.max_slowdown)) {
    return fmt::format("Pass, but undecided: the interval of the {} includes {}.", name_of_deciding(change),
                       slowdown_limit(change.max_slowdown));
  }
  return fmt::format("Pass: {} is not slower by more than {}.", change.of_host ? "the program" : "a step",
                     slowdown_limit(change.max_slowdown));
}

std::vector<std::string> program_notes(const Report& base, const Report& now) {
  std::vector<std::string> notes;
  const Profile &before = *base.profile, &after = *now.profile;
  note_if_other(notes, "different GPUs (figures are means per GPU)", gpus_of(before), gpus_of(after));
  if (before.steps && after.steps) {
    note_if_other(notes, "steps were found in different ways (one step of one run may be several of the other)",
                  to_string(before.steps->source), to_string(after.steps->source));
  } else if (before.recorded_share < 1 || after.recorded_share < 1) {
    notes.push_back(fmt::format("only parts of the runs were recorded, which the sums cover: {} before, {} now",
                                percent(before.recorded_share), percent(after.recorded_share)));
  }
  return notes;
}

}  // namespace roofline
