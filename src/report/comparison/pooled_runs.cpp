// Rows are matched as between the two sides of a comparison.
#include "report/comparison/pooled_runs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

constexpr double kPoolConfidence = 0.95;

/// A row of the pool.
struct RowOfRuns {
  std::vector<Repetition> times;
  std::vector<double> clocks_hz;
  double total_s = 0, launches = 0;  ///< of a program
  double runs = 0;                   ///< that have the row
};

void add_run(RowOfRuns& row, Point& pooled, const Point& point, std::size_t run) {
  row.runs += 1;
  if (point.profiled) {
    row.total_s += point.profiled->total_s;
    row.launches += static_cast<double>(point.profiled->launches);
  }
  if (point.time && point.time->median > 0) {
    row.times.push_back(repetition_of(point.time->median, point.time->ci95));
    if (point.time->clock_hz) row.clocks_hz.push_back(*point.time->clock_hz);
    if (!pooled.time) static_cast<Outcome&>(pooled) = point;
  }
  const bool more =
      point.contention && (!pooled.contention || share_lost(*pooled.contention) < share_lost(*point.contention));
  if (more) pooled.contention = point.contention;
  if (point.status != PointStatus::failed || pooled.status == PointStatus::failed) return;
  pooled.status = PointStatus::failed;
  pooled.reason = fmt::format("run {}: {}", run + 1, point.reason);
}

void finish_row(const RowOfRuns& row, Point& pooled) {
  if (pooled.status == PointStatus::failed) pooled.time.reset();
  if (pooled.profiled && row.runs > 0) {
    pooled.profiled->total_s = row.total_s / row.runs;
    pooled.profiled->launches = std::llround(row.launches / row.runs);
  }
  if (!pooled.time || row.times.size() < 2) return;
  const RepeatedRatio mean = ratio_of_rounds(row.times);
  pooled.time->median = mean.ratio();
  pooled.time->ci95 = mean.interval(kPoolConfidence);
  if (!row.clocks_hz.empty()) pooled.time->clock_hz = median(row.clocks_hz);
}

bool is_repeated(const std::vector<Repetition>& before, const std::vector<Repetition>& now) {
  return !before.empty() && !now.empty() && before.size() + now.size() > 2;
}

}  // namespace

PooledRuns pool_runs(std::vector<Report> runs) {
  PooledRuns pool{.report = runs.front(), .times = {}, .runs = runs.size(), .programs = {}};
  for (const Report& run : runs) pool.programs.push_back(program_costs_of(run));
  Report& all = pool.report;
  std::vector<RowOfRuns> rows(all.points.size());
  for (std::size_t i = 0; i < rows.size(); ++i) add_run(rows[i], all.points[i], runs.front().points[i], 0);
  for (std::size_t run = 1; run < runs.size(); ++run) {
    const Report& one = runs[run];
    for (const PointChange& match : match_rows(all, one)) {
      if (!match.now) continue;
      const std::size_t row = match.before.value_or(all.points.size());
      if (!match.before) {
        all.points.push_back(one.points[*match.now]);
        rows.emplace_back();
      }
      add_run(rows[row], all.points[row], one.points[*match.now], run);
    }
    all.cancelled = all.cancelled || one.cancelled;
    if (!one.complete && all.complete) {
      all.complete = false;
      all.rows_planned = one.rows_planned;
    }
    if (!all.profile || !one.profile) continue;
    all.profile->wall_s += one.profile->wall_s;
    all.profile->kernel_s += one.profile->kernel_s;
  }
  if (all.profile) {
    all.profile->wall_s /= static_cast<double>(pool.runs);
    all.profile->kernel_s /= static_cast<double>(pool.runs);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    finish_row(rows[i], all.points[i]);
    pool.times.push_back(all.points[i].time ? std::move(rows[i].times) : std::vector<Repetition>());
  }
  return pool;
}

std::vector<PointChange> compare_runs(const PooledRuns& before, const PooledRuns& now, double max_slowdown,
                                      double threshold) {
  std::vector<PointChange> changes = compare_runs(before.report, now.report, threshold);
  std::vector<std::pair<PointChange*, RepeatedRatio>> repeated;
  std::vector<double> errors;
  GateRule rule{.threshold = max_slowdown, .rows = 0};
  for (PointChange& change : changes) {
    if (!std::isfinite(change.time_ratio)) continue;
    ++rule.rows;
    const auto &then = before.times[*change.before], &today = now.times[*change.now];
    if (!is_repeated(then, today)) continue;
    repeated.emplace_back(&change, ratio_of_runs(then, today));
    errors.push_back(repeated.back().second.standard_error);
    change.repetitions_before = static_cast<std::int64_t>(then.size());
    change.repetitions_now = static_cast<std::int64_t>(today.size());
  }
  rule.typical_error = median(std::move(errors));
  for (const auto& [change, ratio] : repeated) {
    change->time_ratio = ratio.ratio();
    change->ratio_ci95 = ratio.interval(kPoolConfidence);
    change->basis = RatioBasis::runs;
    change->change = decide(ratio, rule);
  }
  return changes;
}

}  // namespace roofline
