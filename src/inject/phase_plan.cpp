#include "inject/phase_plan.hpp"

#include <algorithm>

#include "inject/clock.hpp"

namespace roofline::inject {
namespace {

/// Counting may cost this much before it is interrupted for a few uncounted steps, and for a sample of them. To begin
/// it costs 0.5 to 0.7 s.
constexpr std::uint64_t kUntilGlimpse = kSecond, kFirstCounting = 4 * kSecond;
/// The same where that would not be enough for all counts.
constexpr std::uint64_t kFirstOfMany = 2 * kSecond;
/// A glimpse is this many repetitions, or this long if nothing repeats. What repeats may be a part of a step.
constexpr std::uint64_t kGlimpsed = 4, kShortestGlimpse = 8 * kSecond / 10, kLongestGlimpse = 3 * kSecond;

// A sample ends after kSampled repetitions that took kShortestSample, or after kFew that took kLongestSample.
// While counts are missing, kSomeSampled are enough: a short program has roofs only if they are completed.
constexpr std::uint64_t kSampled = 100, kSomeSampled = 20, kRefreshed = 20, kFew = 5;
constexpr std::uint64_t kShortestSample = kSecond, kLongestSample = 5 * kSecond;
constexpr std::uint64_t kShortestRefresh = kSecond / 5, kLongestRefresh = 2 * kSecond;
/// For a job: its ranks check the time a few times per second, and begin that much apart.
constexpr std::uint64_t kShortestOfJob = kSecond;
// Instructions: thousands of samples per second and SM. At first from short programs, then from steady steps.
constexpr std::uint64_t kFewOfInstructions = 3;
constexpr std::uint64_t kFirstInstructions = 3 * kSecond / 10, kFirstInVain = 3 * kSecond;
constexpr std::uint64_t kSteadyInstructions = kSecond, kSteadyInVain = 3 * kSecond;
constexpr std::uint64_t kLongestInstructions = 4 * kSecond, kSomeLaunching = kSecond;
/// If nothing repeats, counting continues after this time.
constexpr std::uint64_t kNothingRepeats = 10 * kSecond;
/// A program that repeats, but in these times for less than a sample or refresh, has no steps: short loops now and
/// then.
constexpr std::uint64_t kShortLoops = 60 * kSecond, kShortLoopsInRefresh = 10 * kSecond;

constexpr std::uint64_t kFirstQuiet = 10 * kSecond, kLongestQuiet = 300 * kSecond;
/// A quiet phase is at least this many times as long as the refresh before it, up to kLongestQuiet.
constexpr std::uint64_t kRefreshedPart = 50;
constexpr std::uint64_t kShortestQuiet = 2 * kSecond;

/// True if so many repetitions are enough for what a phase records.
bool enough(const PhasePlan::Progress& progress, std::uint64_t repetitions, std::uint64_t least, std::uint64_t most) {
  if (progress.repetitions < kFew) return false;
  return progress.repeated >= most || (progress.repeated >= least && progress.repetitions >= repetitions);
}

/// True if a kernel that begins a row is to be counted before the phase has what it records.
bool counts_newcomer(const PhasePlan::Progress& progress) {
  return progress.newcomer && progress.may_count && !progress.in_job;
}

}  // namespace

RunPhase PhasePlan::next(const Progress& progress) {
  if (!progress.launched) return phase_;
  if (since_ == 0) since_ = progress.time;
  if (progress.launches != launches_ && looked_ != 0) launching_ += progress.time - looked_;
  looked_ = progress.time;
  launches_ = progress.launches;
  RunPhase next = phase_;
  switch (phase_) {
    case RunPhase::instructions:
      if (progress.instructions_taken && sampled_since_ == 0) sampled_since_ = progress.time;
      next = after_instructions(progress);
      break;
    case RunPhase::closing:
      if (!progress.instructions_on) next = after_sampled_;
      break;
    case RunPhase::start_up:
      next = after_start_up(progress);
      break;
    case RunPhase::glimpse:
      next = after_glimpse(progress);
      break;
    case RunPhase::sample:
      next = after_sample(progress);
      break;
    case RunPhase::counting:
      next = after_counting(progress);
      break;
    case RunPhase::quiet:
      next = after_quiet(progress);
      break;
    case RunPhase::refresh: {
      const std::uint64_t in_vain = progress.repetitions < kFew ? kLongestRefresh : kShortLoopsInRefresh;
      const std::uint64_t least = progress.in_job ? kShortestOfJob : kShortestRefresh;
      if (counts_newcomer(progress)) {
        next = RunPhase::counting;
        break;
      }
      const bool refreshed = enough(progress, kRefreshed, least, kLongestRefresh);
      if (refreshed || progress.time - since_ >= in_vain) next = RunPhase::quiet;
      break;
    }
  }
  in_job_ = progress.in_job;
  if (next != phase_) enter(next, progress.time);
  return phase_;
}

void PhasePlan::begin(bool instructions, bool in_job, Run run) {
  run_ = run;
  const RunPhase first = in_job ? RunPhase::glimpse : RunPhase::start_up;
  instructions_ = instructions;
  after_sampled_ = first;
  glimpsed_ = in_job || run == Run::later;
  phase_ = instructions ? RunPhase::instructions : first;
}

RunPhase PhasePlan::after_instructions(const Progress& progress) const {
  const bool steady = after_sampled_ == RunPhase::quiet;
  const std::uint64_t least = steady ? kSteadyInstructions : kFirstInstructions;
  const bool enough = (progress.repetitions >= kFewOfInstructions || progress.series) && sampled_since_ != 0 &&
                      progress.time - sampled_since_ >= least;
  // A start-up that imports, compiles and reads data launches little, and costs nothing meanwhile. Steps that are never
  // alike are not seen to repeat.
  const bool long_taken = sampled_since_ != 0 && progress.time - sampled_since_ >= kLongestInstructions;
  if (run_ == Run::first && (progress.series || (progress.in_row && !long_taken))) return RunPhase::instructions;
  const bool in_vain =
      launching_ >= (steady ? kSteadyInVain : kFirstInVain) || (long_taken && launching_ >= kSomeLaunching);
  return enough || in_vain || progress.no_instructions ? RunPhase::closing : RunPhase::instructions;
}

RunPhase PhasePlan::after_start_up(const Progress& progress) const {
  const bool far = progress.counting_cost + progress.counting_left > kFirstCounting;
  const bool sliced = progress.counting_cost >= (far ? kFirstOfMany : kFirstCounting);
  if (progress.counting_rests) return RunPhase::sample;
  if (progress.series || run_ == Run::later) return RunPhase::start_up;
  if (glimpsed_ && sliced) return RunPhase::sample;
  return !glimpsed_ && progress.counting_cost >= kUntilGlimpse ? RunPhase::glimpse : RunPhase::start_up;
}

RunPhase PhasePlan::after_glimpse(const Progress& progress) const {
  const bool in_vain = progress.repetitions == 0 && launching_ >= kLongestGlimpse;
  const bool enough = progress.repetitions >= kGlimpsed && progress.time - since_ >= kShortestGlimpse;
  return enough || in_vain || progress.newcomer ? RunPhase::start_up : RunPhase::glimpse;
}

RunPhase PhasePlan::after_sample(const Progress& progress) {
  const bool counts_on = count_on_ && progress.counts_missing;
  if (progress.peers_missing) {
    since_ = progress.time;
    return RunPhase::sample;
  }
  if (counts_newcomer(progress)) return RunPhase::counting;
  const bool short_loops = progress.repetitions >= kFew && progress.time - since_ >= kShortLoops;
  const std::uint64_t wanted = counts_on && !progress.in_job ? kSomeSampled : kSampled;
  if (enough(progress, wanted, kShortestSample, kLongestSample) || short_loops) {
    sampled_ = true;
    return counts_on ? RunPhase::counting : before_quiet(progress);
  }
  const bool in_vain = progress.repetitions < kFew && progress.time - since_ >= kNothingRepeats;
  return in_vain && counts_on ? RunPhase::counting : RunPhase::sample;
}

/// A program whose steps began late has no sample of them yet: counting that goes on would take all of a short run.
RunPhase PhasePlan::after_counting(const Progress& progress) {
  if (counted_since_ == 0) counted_since_ = progress.counting_cost + 1;
  const bool sliced = !sampled_ && !progress.series && progress.repetitions >= kFew &&
                      progress.counting_cost >= counted_since_ + kFirstOfMany;
  if (progress.counting_rests) return sampled_ ? before_quiet(progress) : RunPhase::sample;
  if (sliced) count_on_ = true;
  return sliced ? RunPhase::sample : RunPhase::counting;
}

/// Instructions of steady steps, once.
RunPhase PhasePlan::before_quiet(const Progress& progress) {
  if (!instructions_ || progress.no_instructions) return RunPhase::quiet;
  instructions_ = false;
  after_sampled_ = RunPhase::quiet;
  return RunPhase::instructions;
}

RunPhase PhasePlan::after_quiet(const Progress& progress) const {
  const std::uint64_t elapsed = progress.time - since_;
  return elapsed >= pause_ || (progress.marker_lost && elapsed >= shortest_) ? RunPhase::refresh : RunPhase::quiet;
}

void PhasePlan::enter(RunPhase phase, std::uint64_t time) {
  const std::uint64_t length = time - since_;
  if (phase == RunPhase::counting) count_on_ = false;
  if (phase == RunPhase::glimpse) glimpsed_ = true;
  if (phase == RunPhase::quiet) {
    const bool first = pause_ == 0;
    // The ranks of a job pause equally long, although their refreshes were not.
    const std::uint64_t by_cost = in_job_ ? 0 : kRefreshedPart * length;
    pause_ = first ? kFirstQuiet : std::min(std::max(2 * pause_, by_cost), kLongestQuiet);
    shortest_ = first ? kShortestQuiet : std::min(2 * shortest_, kLongestQuiet);
  }
  phase_ = phase;
  launching_ = 0;
  sampled_since_ = 0;
  counted_since_ = 0;
  since_ = time;
}

}  // namespace roofline::inject
