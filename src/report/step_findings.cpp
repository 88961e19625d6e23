#include "report/step_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/budget.hpp"
#include "report/largest_line.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/source_place.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

bool runs_python(const Profile& profile) {
  return std::ranges::any_of(profile.program, [](const std::string& word) {
    return word.ends_with(".py") || last_path_part(word).starts_with("python") || last_path_part(word) == "torchrun";
  });
}

/// Against the largest part; empty: none that fits every such program.
std::string_view action_on(StartUpPart part, bool python) {
  switch (part) {
    case StartUpPart::before_cuda:
      return python ? "Find slow imports: python -X importtime." : "";
    case StartUpPart::loading:
      return "Load only what is used: CUDA_MODULE_LOADING=LAZY.";
    case StartUpPart::allocating:
      return "Allocate once, from a pool.";
    case StartUpPart::compiling:
      return python ? "Keep compiled code between runs: TORCHINDUCTOR_CACHE_DIR, JAX_COMPILATION_CACHE_DIR, "
                      "TRITON_CACHE_DIR."
                    : "Keep compiled code between runs, or compile it when the program is built.";
    default:
      return "";
  }
}

/// "6.10 s: 3.10 s before CUDA is opened; …", the largest parts first, and what to do about the first.
std::string start_up_text(const Profile& profile) {
  const Steps& steps = *profile.steps;
  const bool python = runs_python(profile);
  constexpr double kSmall = 0.02;  // of the start-up
  std::vector<std::string> parts;
  for (const StartUpShare& share : steps.start_up) {
    if (share.seconds < kSmall * steps.start_up_s) continue;
    parts.push_back(fmt::format("{} {}", duration(share.seconds), name_of(share.part)));
  }
  if (parts.empty()) return duration(steps.start_up_s);
  std::string text = fmt::format("{}: {}", duration(steps.start_up_s), fmt::join(parts, "; "));
  constexpr double kNoticed = 0.5;  // seconds; less is not worth an action
  const StartUpShare& largest = steps.start_up.front();
  const std::string_view action = largest.seconds >= kNoticed ? action_on(largest.part, python) : "";
  return action.empty() ? text : fmt::format("{}. {}", text, action);
}

/// Reduction of the step time. All other ranks wait for a late one, so the step ends that much earlier without the
/// delay.
struct Shortening {
  double seconds = 0, of_s = 0;
  bool of_late_rank = false;
};

/// As many sentences of a long text as fit; names of user kernels may be longer than that.
std::string whole_sentences(const std::string& text) {
  constexpr std::size_t kMost = 360;
  std::string line = clean_line(text);
  if (line.size() <= kMost) return line;
  const std::size_t end = line.rfind(". ", kMost);
  return end == std::string::npos ? shorten(line, kMost) : line.substr(0, end + 1);
}

/// Without a cause, where the work is tells what to think about: a line that the reader may know to be needless.
std::string no_cause(const Report& report) {
  const std::string line = largest_line(report);
  return line.empty() ? "No cause stands out." : "No cause stands out. " + line;
}

Shortening shortening_of(const Report& report, const Hotspot& hotspot) {
  const auto budget = whole_budget(report);
  double wall = budget ? budget->wall_s : 0;
  const bool whole_run = report.profile && !report.profile->steps && budget && !hotspot.of_library;
  // Of a run without steps: the program's own time, in which it used the GPU. Faster kernels of libraries may not
  // exist.
  for (const WallPart part : {WallPart::before, WallPart::after, WallPart::counting})
    wall -= whole_run ? budget->seconds(part) : 0;
  const std::size_t gpus = report.profile && report.profile->steps ? report.profile->steps->devices.size() : 1;
  const bool late = gpus > 1 && (hotspot.cause == SavingCause::late_rank || hotspot.cause == SavingCause::slow_gpu ||
                                 hotspot.cause == SavingCause::unequal_work);
  if (!late) return {hotspot.seconds, wall, false};
  const auto all = static_cast<double>(gpus);
  // Work that all divide is not gone: the step becomes as long as the mean of theirs.
  const double shorter_by = hotspot.cause == SavingCause::unequal_work ? all : all - 1;
  return {hotspot.seconds / shorter_by, wall / all, true};
}

/// A single event that took more than all steps otherwise: not one of the start-up's, which a longer run would not
/// have.
bool is_most_of_all(const Report& report, const Hotspot& hotspot) {
  constexpr double kMost = 0.5;
  const bool start_up = hotspot.cause == SavingCause::module_load || hotspot.cause == SavingCause::recompilation ||
                        hotspot.cause == SavingCause::allocation;
  const Shortening shortening = shortening_of(report, hotspot);
  return !start_up && shortening.of_s > 0 && shortening.seconds >= kMost * shortening.of_s;
}

/// "; 28.6 ms (80 %) with all else in lookup": what a function loses for other reasons, where that is a good part. The
/// savings of a program are disjoint.
std::string rest_of_function(const Report& report, const std::vector<Hotspot>& hotspots, const Hotspot& first) {
  constexpr double kGoodPart = 0.25;  // more than by the first alone
  const auto budget = whole_budget(report);
  if (first.line.empty() || shortening_of(report, first).of_late_rank || !budget || !(budget->wall_s > 0)) return {};
  const std::string function = function_of_place(first.line);
  double seconds = 0;
  for (const Hotspot& hotspot : hotspots) {
    const bool adds = hotspot.cause && hotspot.seconds > 0 && !hotspot.beside && !hotspot.one_off && !hotspot.memory;
    if (adds && !hotspot.line.empty() && function_of_place(hotspot.line) == function) seconds += hotspot.seconds;
  }
  if (seconds < (1 + kGoodPart) * first.seconds) return {};
  return fmt::format("; {} ({}) with all else in {}", duration(seconds), percent(seconds / budget->wall_s),
                     function.substr(function.rfind(' ') + 1));
}

std::string_view name_of(BetweenWork work) {
  switch (work) {
    case BetweenWork::saving:
      return "saving the program's state";
    case BetweenWork::compiling:
      return "compilation";
    case BetweenWork::starting_workers:
      return "starting worker processes";
    case BetweenWork::computing:
      return "other host code";
    case BetweenWork::launched:
      break;
  }
  return "other work";
}

/// "Between steps, compilation takes 2.1 s, 38.0 % of the loop (train.py:47 fit)."
std::string between_text(const WorkBetweenSteps& work) {
  return fmt::format("Between steps, {} takes {}, {} of the loop ({}).", name_of(work.work), duration(work.seconds),
                     percent(work.share), clean_line(work.line));
}

/// " Start-up takes 36 s of the run's 39 s.", where the steps are too few to say much of the run; else empty.
std::string mostly_start_up(const Profile& profile) {
  constexpr double kMost = 0.5, kFewSteps = 0.05;
  const Steps& steps = *profile.steps;
  const double loop_s = profile.wall_s - steps.start_up_s - steps.tear_down_s;
  if (steps.start_up_s < kMost * profile.wall_s || loop_s > kFewSteps * profile.wall_s) return {};
  return fmt::format(" Start-up takes {} of the run's {}.", duration(steps.start_up_s), duration(profile.wall_s));
}

/// Work of the host between steps that takes more of the loop than `first`, the largest potential saving, does of a
/// step: what to do first. Empty if it does not.
std::string between_first(const Report& report, const Hotspot* first) {
  const std::optional<Steps>& steps = report.profile->steps;
  if (!steps || !steps->between || steps->between->action.empty()) return {};
  const Shortening shortening = first != nullptr ? shortening_of(report, *first) : Shortening{};
  const double in_steps = shortening.of_s > 0 ? shortening.seconds / shortening.of_s : 0;
  const WorkBetweenSteps& work = *steps->between;
  if (in_steps * (1 - work.share) >= work.share) return {};
  return fmt::format("First: {} between steps ({}). At most {}, {} of the loop. {}",
                     capitalised(std::string(name_of(work.work))), clean_line(work.line), duration(work.seconds),
                     percent(work.share), work.action);
}

}  // namespace

std::string_view name_of(StartUpPart part) {
  static constexpr std::array<std::string_view, kStartUpParts> kNames = {"before CUDA is opened (imports, files)",
                                                                         "profiler overhead (counters)",
                                                                         "loading CUDA modules",
                                                                         "allocating GPU memory",
                                                                         "compiling",
                                                                         "GPU working (initialisation, autotuning)",
                                                                         "host working outside CUDA"};
  return kNames.at(static_cast<std::size_t>(part));
}

std::string step_answer(const Report& report) {
  const Steps& steps = *report.profile->steps;
  constexpr double kFar = 0.05;  // of the median
  std::string range = fmt::format("{}, {} to {}", count(steps.count) + (steps.count == 1 ? " step" : " steps"),
                                  duration(steps.low_s), duration(steps.high_s));
  const double mean = steps.total_s / static_cast<double>(steps.count);  // what the bar and the savings are parts of
  if (std::abs(mean / steps.median_s - 1) > kFar) range += ", mean " + duration(mean);
  std::string text = steps.untouched_s ? fmt::format("A step takes {} ({} while recorded: {}).",
                                                     duration(*steps.untouched_s), duration(steps.median_s), range)
                                       : fmt::format("A step takes {} ({}).", duration(steps.median_s), range);
  const std::string between =
      (steps.between ? " " + between_text(*steps.between) : "") + mostly_start_up(*report.profile);
  const std::optional<Budget> budget = whole_budget(report);
  if (!budget) return text + between;
  if (steps.devices.size() > 1) text += fmt::format(" {} GPUs work on it.", steps.devices.size());
  if (budget->mostly_roofed()) {
    const bool measured = !has_unmeasured_roofs(report);
    return fmt::format("{} At {} {} would take {}{}.{}", text,
                       measured ? "the roofs" : "data-sheet peak (not measured here)",
                       kernels_with_roofs(*budget, "its"), duration(steps.at_roof_s),
                       steps.devices.size() > 1 ? " together" : "", between);
  }
  const double kernels =
      budget->seconds(WallPart::at_roof) + budget->seconds(WallPart::beyond) + budget->seconds(WallPart::no_roof);
  if (!(kernels > 0)) return text + between;
  const std::string known = budget->has_roof()
                                ? fmt::format(", of which {} has a known roof", percent(budget->roofed_share()))
                                : std::string();
  return fmt::format("{} {} kernels for {} of it{}.{}", text,
                     steps.devices.size() > 1 ? "The GPUs run" : "The GPU runs", percent(kernels / budget->wall_s),
                     known, between);
}

namespace {

/// The share of a step, or of the run, from which on a saving stands out.
double share_that_stands_out(const Hotspot& hotspot) {
  constexpr double kOwn = 0.1;
  // Library and generated kernels: a faster one may not exist. Fusion is a bound that compilers reach in part, and no
  // fault of a line. Copies between buffers of a GPU without a line are those of a library or a compiler.
  constexpr double kOthers = 0.2;
  const bool fusion = hotspot.cause == SavingCause::fusion;
  const bool copies_of_others = hotspot.cause == SavingCause::copies && hotspot.line.empty();
  return hotspot.of_library || fusion || copies_of_others ? kOthers : kOwn;
}

}  // namespace

std::string first_action(const Report& report, const std::vector<Hotspot>& hotspots) {
  const Hotspot* const memory = !hotspots.empty() && hotspots.front().memory ? &hotspots.front() : nullptr;
  std::string memory_text =
      memory == nullptr ? "" : fmt::format("First: {} {}", whole_sentences(memory->text), memory->action);
  if (!report.profile) return memory_text;
  const auto could_be = [&report](const Hotspot& hotspot) {
    return hotspot.seconds > 0 && (!hotspot.one_off || is_most_of_all(report, hotspot)) &&
           hotspot.cause != SavingCause::unknown_idle && !hotspot.beside && hotspot.actionable &&
           !hotspot.action.empty();
  };
  const auto stands_out = [&report](const Hotspot& hotspot, double share) {
    const Shortening shortening = shortening_of(report, hotspot);
    return !(shortening.of_s > 0) || shortening.seconds >= share * shortening.of_s;
  };
  constexpr double kBeforeMemory = 0.3;  // unused memory matters less than that
  const Hotspot* first = nullptr;
  const Hotspot* largest = nullptr;
  for (const Hotspot& hotspot : hotspots) {
    if (!could_be(hotspot)) continue;
    if (first == nullptr && stands_out(hotspot, share_that_stands_out(hotspot))) first = &hotspot;
    if (largest == nullptr || hotspot.seconds > largest->seconds) largest = &hotspot;
  }
  const bool may_wait = memory != nullptr && (memory->cause == SavingCause::fragmentation ||
                                              memory->cause == SavingCause::host_memory_growth);
  const bool time_first = may_wait && first != nullptr && stands_out(*first, kBeforeMemory);
  if (memory != nullptr && !time_first) return memory_text;
  if (std::string checkpoints = between_first(report, first); !checkpoints.empty()) return checkpoints;
  if (largest == nullptr) {
    // Time without an action may be most of it.
    const auto item = std::find_if(hotspots.begin(), hotspots.end(), [&](const Hotspot& one) {
      return one.seconds > 0 && !one.one_off && !one.beside && stands_out(one, share_that_stands_out(one));
    });
    if (item != hotspots.end()) {
      return fmt::format("The largest item, {}, has no known cause.", saving_time(report, *item));
    }
    const bool any = std::any_of(hotspots.begin(), hotspots.end(), [](const Hotspot& one) { return one.counts(); });
    return any ? no_cause(report) : "";
  }
  if (first == nullptr) {
    return fmt::format("{} The largest potential saving is {}: {} {}", no_cause(report), saving_time(report, *largest),
                       whole_sentences(largest->text), largest->action);
  }
  return fmt::format("First: {} At most {}{}. {}", whole_sentences(first->text), saving_time(report, *first),
                     rest_of_function(report, hotspots, *first), first->action);
}

std::string saving_time(const Report& report, const Hotspot& hotspot) {
  if (!report.profile || !report.profile->steps) return duration(hotspot.seconds);
  if (hotspot.one_off) {
    return duration(hotspot.seconds * static_cast<double>(report.profile->steps->count)) + " once";
  }
  const auto budget = whole_budget(report);
  if (!budget || !(budget->wall_s > 0)) return duration(hotspot.seconds) + " per step";
  if (const Shortening late = shortening_of(report, hotspot); late.of_late_rank) {
    return fmt::format("{} of a step of {} ({})", duration(late.seconds), duration(late.of_s),
                       percent(late.seconds / late.of_s));
  }
  const std::size_t gpus = report.profile->steps->devices.size();
  return fmt::format("{} per step ({}{})", duration(hotspot.seconds), percent(hotspot.seconds / budget->wall_s),
                     gpus > 1 ? fmt::format(" of {} on {} GPUs together", budget->text(budget->steps), gpus) : "");
}

std::string once_text(const Report& report, const Hotspot& hotspot) {
  if (!hotspot.one_off) return {};
  return report.profile && report.profile->steps ? fmt::format(" ({})", saving_time(report, hotspot)) : " (once)";
}

std::vector<std::string> slow_step_lines(const Report& report) {
  std::vector<std::string> lines;
  if (!report.profile || !report.profile->steps) return lines;
  for (const SlowStep& step : report.profile->steps->slow) {
    lines.push_back(fmt::format("Step {} took {}{}.{}", count(step.number), duration(step.seconds),
                                step.different.empty() ? "" : ": " + clean_line(step.different),
                                step.apart ? " It is not included in the other figures." : ""));
  }
  return lines;
}

std::vector<std::pair<std::string, std::string>> run_parts(const Report& report) {
  if (!report.profile || !report.profile->steps) return {};
  const Profile& profile = *report.profile;
  const Steps& steps = *profile.steps;
  const double other_s = profile.wall_s - steps.start_up_s - steps.total_s - steps.tear_down_s;
  std::vector<std::pair<std::string, std::string>> parts = {
      {"Run", duration(profile.wall_s)},
      {"Start-up", start_up_text(profile)},
      {"Steady steps", fmt::format("{} in {}, mean {}", count(steps.count), duration(steps.total_s),
                                   duration(steps.total_s / static_cast<double>(steps.count)))}};
  constexpr double kSmall = 1e-3;
  if (other_s > kSmall * profile.wall_s) {
    const std::string counting = profile.counting_s > 0 ? fmt::format(", {} of it profiler overhead",
                                                                      duration(std::min(other_s, profile.counting_s)))
                                                        : "";
    parts.emplace_back("Between steps",
                       fmt::format("{}: steps with counter reads, and other work{}", duration(other_s), counting));
  }
  if (steps.tear_down_s > kSmall * profile.wall_s)
    parts.emplace_back("After the last step", duration(steps.tear_down_s));
  return parts;
}

std::string why_no_steps(const Report& report) {
  if (!report.profile || report.profile->steps || report.profile->why_no_steps.empty()) return {};
  if (is_of_host(report)) return {};  // steps are those of a GPU
  const bool roofs_alone = report.points.empty() && report.profile->devices.empty() && !report.machine.ceilings.empty();
  if (!has_wall_time(report) || roofs_alone) return {};
  return fmt::format("No steps were found: {}. The times are of the whole run.",
                     clean_line(report.profile->why_no_steps));
}

}  // namespace roofline
