// Profiles compared by what a step costs: with a difference and without one.
#include "report/comparison/program_change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "render/program_change_table.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/comparison/match_costs.hpp"
#include "sampler_series.hpp"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t kCountedSteps = 100;

/// Milliseconds of a step on each GPU.
struct StepParts {
  double kernels = 20, copies = 2, launching = 1, waiting = 5, elsewhere = 4;

  double sum() const { return kernels + copies + launching + waiting + elsewhere; }
};

WallTime wall_of(const StepParts& parts, int device, double count) {
  const double unit = 1e-3 * count;
  return {.device = device,
          .device_name = "NVIDIA H200",
          .wall_s = parts.sum() * unit,
          .kernels_s = parts.kernels * unit,
          .copies_s = parts.copies * unit,
          .idle_launching_s = parts.launching * unit,
          .idle_waiting_s = parts.waiting * unit,
          .idle_elsewhere_s = parts.elsewhere * unit,
          .kernel_s = parts.kernels * unit};
}

Point kernel_row(const std::string& name, double launches, double ms) {
  Point point;
  point.workload.op = point.workload.label = name;
  point.time.emplace().median = 1e-3 * ms / launches;
  ProfiledKind& kind = point.profiled.emplace();
  kind.launches = std::llround(launches * kCountedSteps);
  kind.total_s = 1e-3 * ms * kCountedSteps;
  kind.step = {.launches = launches, .seconds = 1e-3 * ms};
  return point;
}

/// `width`: of both intervals, as a fraction on each side.
Report stepped(const StepParts& parts = {}, double width = 0.004, int gpus = 1) {
  Report report;
  report.machine.device.kind = DeviceKind::cuda;
  Profile& profile = report.profile.emplace();
  profile.program = {"train.py"};
  Steps& steps = profile.steps.emplace();
  steps.count = kCountedSteps;
  const double step = 1e-3 * parts.sum();
  steps.median_s = step;
  steps.low_s = 0.97 * step;
  steps.high_s = 1.05 * step;
  steps.ci95 = {step * (1 - width), step * (1 + width)};
  steps.total_s = step * kCountedSteps;
  steps.mean_ci95 = steps.ci95;
  steps.start_up_s = 5;
  steps.start_up = {{StartUpPart::host, 3}, {StartUpPart::counting, 2}};
  for (int gpu = 0; gpu < gpus; ++gpu) {
    steps.devices.push_back(wall_of(parts, gpu, kCountedSteps));
    profile.devices.push_back(wall_of(parts, gpu, kCountedSteps + 20));
  }
  profile.wall_s = profile.devices[0].wall_s;
  profile.kernel_s = gpus * profile.devices[0].kernels_s;
  report.points = {kernel_row("gemm", 10, 0.75 * parts.kernels * gpus),
                   kernel_row("softmax", 2, 0.25 * parts.kernels * gpus)};
  return report;
}

void add_saving(Report& report, SavingKind kind, SavingCause cause, const std::string& line, double ms) {
  Saving& saving = report.profile->savings.emplace_back();
  saving.kind = kind;
  saving.cause = cause;
  saving.line = line;
  saving.seconds = 1e-3 * ms * kCountedSteps;
  saving.what = "lost";
}

ProgramChange change_between(const Report& before, const Report& now, double max_slowdown = kMaxSlowdown) {
  return program_change({program_costs_of(before)}, {program_costs_of(now)}, max_slowdown).value();
}

double sum_of_differences(const std::vector<PartChange>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const PartChange& part) { return sum + part.now_s - part.before_s; });
}

const CauseChange& change_of_cause(const ProgramChange& change, SavingCause cause) {
  const auto found = std::find_if(change.causes.begin(), change.causes.end(),
                                  [&](const CauseChange& one) { return one.cause.cause == cause; });
  EXPECT_NE(found, change.causes.end()) << to_string(cause);
  return *found;
}

TEST(ProgramChange, TheSameProgramShowsNoDifference) {
  Report report = stepped();
  add_saving(report, SavingKind::idle, SavingCause::item_sync, "train.py:31 main", 4);
  const ProgramChange change = change_between(report, report);
  EXPECT_EQ(change.unit, CostUnit::step);
  EXPECT_EQ(change.typical.change, Change::same);
  EXPECT_EQ(change.mean.change, Change::same);
  EXPECT_EQ(change.typical.ratio, 1);
  EXPECT_FALSE(change.is_regression());
  for (const CauseChange& cause : change.causes) EXPECT_EQ(cause.change, CostChange::same);
  for (const KernelChange& kernel : change.kernels) EXPECT_EQ(kernel.change, CostChange::same);
  EXPECT_EQ(sum_of_differences(change.parts), 0);
}

TEST(ProgramChange, AStepThatIsSlowerBeyondItsIntervalIsARegression) {
  const Report before = stepped();
  StepParts slower;
  slower.kernels += 1.04;  // 3.25 % of the step
  const ProgramChange found = change_between(before, stepped(slower));
  EXPECT_EQ(found.typical.change, Change::slower);
  EXPECT_NEAR(found.typical.ratio, 1.0325, 1e-9);
  EXPECT_TRUE(found.is_regression());
  EXPECT_FALSE(change_between(before, stepped(slower), 0.05).is_regression()) << "within the limit";
  EXPECT_FALSE(change_between(stepped(slower), before).is_regression()) << "faster";
  EXPECT_EQ(change_between(stepped(slower), before).typical.change, Change::faster);
  const ProgramChange noisy = change_between(stepped({}, 0.03), stepped(slower, 0.03));
  EXPECT_EQ(noisy.typical.change, Change::undecided);
  EXPECT_FALSE(noisy.is_regression());
}

TEST(ProgramChange, TheDifferencesOfThePartsAddUpToThatOfTheStep) {
  const ProgramChange change =
      change_between(stepped({20.004, 2.006, 1.0049, 5.002, 4.003}), stepped({17.1234, 2.9, 1.05, 0.333, 4.1}));
  EXPECT_NEAR(sum_of_differences(change.parts), change.mean.now.seconds - change.mean.before.seconds, 1e-12);
  const ShownCosts shown = cost_tables(change).front();
  ASSERT_EQ(shown.table, CostTable::parts);
  const auto hundredths = [](std::string text) {
    const bool negative = text.starts_with("\u2212");
    if (negative) text.erase(0, std::string("\u2212").size());
    return (negative ? -1 : 1) * std::llround(100 * std::strtod(text.c_str(), nullptr));
  };
  long long before = 0, now = 0, difference = 0;
  for (std::size_t i = 0; i + 1 < shown.rows.size(); ++i) {
    before += hundredths(shown.rows[i].before);
    now += hundredths(shown.rows[i].now);
    difference += hundredths(shown.rows[i].difference);
  }
  EXPECT_EQ(before, hundredths(shown.rows.back().before));
  EXPECT_EQ(now, hundredths(shown.rows.back().now));
  EXPECT_EQ(difference, hundredths(shown.rows.back().difference));
  EXPECT_EQ(now - before, difference);
}

TEST(ProgramChange, CausesAreMatchedByCauseAndLine) {
  Report before = stepped(), now = stepped({20, 2, 1, 1, 4});
  add_saving(before, SavingKind::idle, SavingCause::item_sync, "train.py:31 main", 4);
  add_saving(before, SavingKind::idle, SavingCause::few_workers, "train.py:20 main", 3);
  add_saving(now, SavingKind::idle, SavingCause::few_workers, "train.py:24 main", 1);  // four lines were inserted
  add_saving(now, SavingKind::idle, SavingCause::gil, "train.py:50 worker", 2);
  const ProgramChange change = change_between(before, now);
  EXPECT_EQ(change_of_cause(change, SavingCause::item_sync).change, CostChange::gone);
  EXPECT_NEAR(change_of_cause(change, SavingCause::item_sync).difference_s(), -4e-3, 1e-12);
  const CauseChange& moved = change_of_cause(change, SavingCause::few_workers);
  EXPECT_EQ(moved.change, CostChange::smaller);
  EXPECT_EQ(moved.line_before, "train.py:20 main");
  EXPECT_EQ(moved.cause.line, "train.py:24 main");
  EXPECT_EQ(change_of_cause(change, SavingCause::gil).change, CostChange::appeared);
  EXPECT_EQ(change.causes.front().cause.cause, SavingCause::item_sync) << "the largest difference first";
}

TEST(ProgramChange, CausesOfIdleTimeAddUpToItsParts) {
  Report before = stepped(), now = stepped({20, 2, 1, 1, 4});
  add_saving(before, SavingKind::idle, SavingCause::item_sync, "train.py:31 main", 4);
  add_saving(before, SavingKind::copies, SavingCause::pageable_copy, "train.py:12 main", 2);
  add_saving(now, SavingKind::idle, SavingCause::sleep, "train.py:9 main", 0.5);
  double before_s = 0, now_s = 0;
  for (const CauseChange& cause : change_between(before, now).causes) {
    if (cause.cause.kind != SavingKind::idle) continue;
    before_s += cause.before_s;
    now_s += cause.now_s;
  }
  EXPECT_NEAR(before_s, 10e-3, 1e-12);
  EXPECT_NEAR(now_s, 6e-3, 1e-12);
}

TEST(ProgramChange, CausesOfOneLineAreNotMixed) {
  Report before = stepped(), now = stepped();
  for (Report* report : {&before, &now}) {
    add_saving(*report, SavingKind::idle, SavingCause::item_sync, "train.py:31 main", 1);
    add_saving(*report, SavingKind::idle, SavingCause::item_sync, "train.py:32 main", 3);
  }
  for (const CauseChange& cause : change_between(before, now).causes) {
    EXPECT_EQ(cause.before_s, cause.now_s);
    EXPECT_EQ(cause.line_before, cause.cause.line);
  }
}

TEST(ProgramChange, LinesWithoutTheirNumber) {
  EXPECT_EQ(without_line_number("train.py:31 load_batch"), "train.py load_batch");
  EXPECT_EQ(without_line_number("train.py:31"), "train.py");
  EXPECT_EQ(without_line_number("op::f(int)"), "op::f(int)");
  EXPECT_EQ(without_line_number(""), "");
}

TEST(ProgramChange, KernelsHaveTheirLaunchesAndTimes) {
  const Report before = stepped();
  Report now = stepped();
  now.points = {kernel_row("gemm", 10, 12), kernel_row("fused", 1, 1), kernel_row("copy", 1, 1e-4)};
  const ProgramChange change = change_between(before, now);
  ASSERT_THAT(change.kernels, SizeIs(4));
  EXPECT_EQ(change.kernels[0].name, "softmax");
  EXPECT_EQ(change.kernels[0].change, CostChange::gone);
  EXPECT_EQ(change.kernels[1].name, "gemm");
  EXPECT_EQ(change.kernels[1].change, CostChange::smaller);
  EXPECT_EQ(change.kernels[1].launches_before, 10);
  EXPECT_NEAR(change.kernels[1].difference_s(), -3e-3, 1e-12);
  EXPECT_EQ(change.kernels[2].change, CostChange::appeared);
}

TEST(ProgramChange, KernelsOfAnEarlierFileAreNotCompared) {
  Report before = stepped();
  for (Point& point : before.points) point.profiled->step.reset();
  EXPECT_TRUE(change_between(before, stepped()).kernels.empty());
  EXPECT_FALSE(change_between(stepped(), stepped()).kernels.empty());
}

TEST(ProgramChange, RecordedAndUnrecordedStepsAreNotMixed) {
  Report before = stepped(), now = stepped();
  before.profile->steps->untouched_s = 28e-3;
  before.profile->steps->untouched_ci95 = {27.9e-3, 28.1e-3};
  const ProgramChange recorded = change_between(before, now);
  EXPECT_FALSE(recorded.unrecorded);
  EXPECT_EQ(recorded.typical.ratio, 1);
  now.profile->steps->untouched_s = 30.8e-3;
  now.profile->steps->untouched_ci95 = {30.7e-3, 30.9e-3};
  const ProgramChange unrecorded = change_between(before, now);
  EXPECT_TRUE(unrecorded.unrecorded);
  EXPECT_NEAR(unrecorded.typical.ratio, 1.1, 1e-9);
  EXPECT_EQ(unrecorded.mean.ratio, 1) << "the parts are of recorded steps";
  EXPECT_TRUE(unrecorded.is_regression());
}

TEST(ProgramChange, SlowStepsThatTheMedianHidesAreARegressionOfTheMean) {
  const Report before = stepped();
  Report now = stepped();
  for (WallTime* wall : {&now.profile->steps->devices[0]}) {
    wall->idle_elsewhere_s *= 2;
    wall->wall_s += wall->idle_elsewhere_s / 2;
    now.profile->steps->total_s = wall->wall_s;
  }
  const double mean = now.profile->steps->total_s / kCountedSteps;
  now.profile->steps->mean_ci95 = {0.98 * mean, 1.02 * mean};
  const ProgramChange change = change_between(before, now);
  EXPECT_EQ(change.typical.change, Change::same);
  EXPECT_EQ(change.mean.change, Change::slower);
  EXPECT_TRUE(change.is_regression());
  EXPECT_EQ(&change.deciding(), &change.mean);
  now.profile->steps->mean_ci95 = {0.8 * mean, 1.25 * mean};  // a few slow steps may be chance
  EXPECT_FALSE(change_between(before, now).is_regression());
}

TEST(ProgramChange, WithoutStepsWholeRunsAreComparedByTheTimeThatAGpuIsBusy) {
  Report before = stepped();
  before.profile->steps.reset();
  StepParts slower;
  slower.kernels = 40;
  const ProgramChange change = change_between(before, stepped(slower));
  EXPECT_EQ(change.unit, CostUnit::run);
  EXPECT_TRUE(change.no_steps_before);
  EXPECT_FALSE(change.no_steps_now);
  EXPECT_NEAR(change.typical.ratio, 42.0 / 22, 1e-9);
  EXPECT_EQ(change.typical.change, Change::undecided) << "one run has no interval";
  EXPECT_FALSE(change.is_regression());
  EXPECT_TRUE(change.causes.empty()) << "those of steps are none of a run";
  EXPECT_NEAR(sum_of_differences(change.parts), change.mean.now.seconds - change.mean.before.seconds, 1e-12);
}

TEST(ProgramChange, SeveralGpusAreComparedByTheirMean) {
  const Report one = stepped(), two = stepped({}, 0.004, 2);
  const ProgramChange change = change_between(one, two);
  EXPECT_EQ(change.now.gpus, 2);
  EXPECT_EQ(change.mean.ratio, 1);
  EXPECT_EQ(sum_of_differences(change.parts), 0);
  for (const KernelChange& kernel : change.kernels) EXPECT_EQ(kernel.change, CostChange::same);
  const std::size_t alike = comparison_notes(one, one).size();
  EXPECT_EQ(comparison_notes(one, two).size(), alike + 1);
}

TEST(ProgramChange, TheScatterBetweenSeveralRunsDecides) {
  const auto runs_at = [](const std::vector<double>& factors) {
    std::vector<ProgramCosts> costs;
    for (const double factor : factors) {
      costs.push_back(program_costs_of(stepped({20 * factor, 2 * factor, factor, 5 * factor, 4 * factor})));
    }
    return costs;
  };
  const auto scattered = program_change(runs_at({1.00, 1.06, 0.97}), runs_at({1.05, 1.01, 1.08})).value();
  EXPECT_EQ(scattered.typical.basis, RatioBasis::runs);
  EXPECT_FALSE(scattered.is_regression());
  EXPECT_NEAR(sum_of_differences(scattered.parts), scattered.now.mean.seconds - scattered.before.mean.seconds, 1e-12);
  const auto slower = program_change(runs_at({1.00, 1.002, 0.998}), runs_at({1.05, 1.048, 1.052})).value();
  EXPECT_EQ(slower.typical.change, Change::slower);
  EXPECT_TRUE(slower.is_regression());
  EXPECT_EQ(program_change(runs_at({1.00, 1.002, 0.998}), runs_at({1.001, 1, 0.999}))->typical.change, Change::same);
}

/// A program without a GPU: seconds of wall and CPU time, and of its functions.
Report of_cpu(double wall_s, const std::map<std::string, double>& functions) {
  Report report;
  report.profile.emplace().program = {"solver"};
  report.profile->wall_s = wall_s;
  HostProfile& host = report.profile->host.emplace();
  host.wall_s = wall_s;
  host.rate_hz = 100;
  for (const auto& [name, seconds] : functions) {
    HostFunctionSum& function = host.functions.emplace_back();
    function.place.function = name;
    function.times.of(ThreadState::running) = seconds;
    host.times.of(ThreadState::running) += seconds;
  }
  return report;
}

TEST(ProgramChange, ProgramsWithoutAGpuAreComparedByTheirWallTime) {
  const Report before = of_cpu(10, {{"read", 6}, {"solve", 3}, {"write", 1}});
  const Report now = of_cpu(5, {{"solve", 3.2}, {"write", 1}, {"plan", 0.02}});
  const ProgramChange change = change_between(before, now);
  EXPECT_TRUE(change.of_host);
  EXPECT_TRUE(change.decides());
  EXPECT_EQ(change.unit, CostUnit::run);
  EXPECT_EQ(change.before.gpus, 0);
  EXPECT_DOUBLE_EQ(change.mean.ratio, 0.5);
  EXPECT_EQ(&change.deciding(), &change.mean);
  EXPECT_EQ(change.mean.change, Change::undecided) << "one run per side has no interval";
  EXPECT_DOUBLE_EQ(change.typical.before.seconds, 10);
  EXPECT_NEAR(change.typical.now.seconds, 4.22, 1e-12);
  ASSERT_EQ(change.functions.size(), 4U);
  EXPECT_EQ(change.functions[0].name, "read");
  EXPECT_EQ(change.functions[0].change, CostChange::gone);
  EXPECT_EQ(change.functions[1].change, CostChange::same) << "3 s and 3.2 s at 100 samples per second";
  EXPECT_EQ(change.functions[2].change, CostChange::same) << "two samples";
  EXPECT_FALSE(change_between(now, before).is_regression());

  const auto runs_of = [](double wall_s) {
    std::vector<ProgramCosts> costs;
    for (const double factor : {1.0, 1.002, 0.998, 1.001}) {
      costs.push_back(program_costs_of(of_cpu(wall_s * factor, {{"solve", 3}})));
    }
    return costs;
  };
  const ProgramChange slower = program_change(runs_of(5), runs_of(6)).value();
  EXPECT_EQ(slower.mean.change, Change::slower);
  EXPECT_TRUE(slower.is_regression());
  EXPECT_FALSE(program_change(runs_of(6), runs_of(5))->is_regression());
  EXPECT_EQ(program_change(runs_of(5), runs_of(5))->mean.change, Change::same);

  Report with_gpu = stepped();
  EXPECT_TRUE(change_between(of_cpu(5, {{"solve", 3}}), with_gpu).of_host) << "what both have";
  Report kernels_only;
  kernels_only.profile.emplace().wall_s = 3;
  kernels_only.points = {kernel_row("gemm", 10, 3)};
  EXPECT_FALSE(program_change({program_costs_of(kernels_only)}, {program_costs_of(kernels_only)}))
      << "a file of another tool: its kernels are compared";
}

TEST(ProgramChange, TheStepDecidesAndNotTheRows) {
  Report now = stepped();
  now.points[0].time->median *= 2;
  const Report before = stepped();
  EXPECT_TRUE(regression_line(comparison_of(before, now)).empty());
  StepParts slower;
  slower.waiting *= 2;
  const Report later = stepped(slower);
  const Comparison comparison = comparison_of(before, later);
  EXPECT_FALSE(regression_line(comparison).empty());
  const auto json = nlohmann::json::parse(render_comparison_json(comparison));
  EXPECT_EQ(json["regressions"], 1);
  EXPECT_EQ(json["program"]["unit"], "step");
  EXPECT_EQ(json["program"]["typical"]["change"], "slower");
  EXPECT_EQ(json["program"]["regression"], true);
  for (const auto& row : json["rows"]) EXPECT_EQ(row["regression"], false);
  Report elsewhere = later;
  elsewhere.machine.device.name = "Another GPU";
  const auto other = nlohmann::json::parse(render_comparison_json(comparison_of(before, elsewhere)));
  EXPECT_EQ(other["regressions"], 0);
  EXPECT_EQ(other["program"]["regression"], false);
  const std::vector<Report> runs = {before, later};
  for (const std::string& text :
       {render_comparison_terminal(comparison, {}), render_comparison_markdown(comparison), render_html(Runs(runs))}) {
    EXPECT_THAT(text, HasSubstr("32 ms → 37 ms, +15.6 %"));
    EXPECT_THAT(text, HasSubstr("idle: host in a CUDA call"));
  }
  EXPECT_THAT(render_comparison_csv(comparison), HasSubstr("step_launches_before,step_before_s"));
}

TEST(ProgramChange, OneIntervalOfEarlierFilesIsWhatWasSeen) {
  Report before = stepped();
  before.profile->steps->ci95 = before.profile->steps->mean_ci95 = {};
  const ProgramChange change = change_between(before, stepped());
  EXPECT_NEAR(change.typical.before.ci95.low, 0.97 * 32e-3, 1e-9);
  EXPECT_EQ(change.typical.change, Change::undecided);
  EXPECT_EQ(change.mean.change, Change::undecided);
}

/// A report whose intervals are those of a series of steps.
ProgramCosts costs_of_series(const std::vector<double>& seconds) {
  Report report = stepped();
  Steps& steps = *report.profile->steps;
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  const double factor = mean / (steps.total_s / kCountedSteps);
  for (double* part :
       {&steps.devices[0].wall_s, &steps.devices[0].kernels_s, &steps.devices[0].copies_s,
        &steps.devices[0].idle_launching_s, &steps.devices[0].idle_waiting_s, &steps.devices[0].idle_elsewhere_s}) {
    *part *= factor;
  }
  steps.total_s *= factor;
  steps.median_s = median(seconds);
  steps.ci95 = estimate_median(seconds).ci95;
  steps.mean_ci95 = mean_interval(seconds);
  return program_costs_of(report);
}

/// Steps that scatter by 1.5 %, one in fifty of which takes three times as long.
TEST(ProgramChange, NoFalseAlarmsAndThreePercentFoundInNoisySteps) {
  constexpr int kPairs = 400;
  int alarms = 0, same = 0, found = 0;
  for (int i = 0; i < kPairs; ++i) {
    const auto seed = static_cast<std::uint64_t>(3 * i);
    const auto series = [&](std::uint64_t number, double scale) {
      return synthetic::NoisySeries({.deviation = 0.015, .correlation = 0.2, .spike_share = 0.02, .scale = scale},
                                    seed + number)
          .take(60);
    };
    const ProgramCosts before = costs_of_series(series(0, 32e-3));
    const ProgramChange identical = program_change({before}, {costs_of_series(series(1, 32e-3))}).value();
    const ProgramChange slower = program_change({before}, {costs_of_series(series(2, 1.03 * 32e-3))}, 0.02).value();
    alarms += identical.is_regression() ? 1 : 0;
    same += identical.typical.change == Change::same ? 1 : 0;
    found += slower.typical.change == Change::slower ? 1 : 0;
  }
  EXPECT_LE(alarms, kPairs / 100);
  EXPECT_GE(same, kPairs * 95 / 100);
  EXPECT_GE(found, kPairs * 95 / 100);
}

}  // namespace
}  // namespace roofline
