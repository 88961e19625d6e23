// Rows are matched by what was run, never by their place.
#include "report/comparison/compare_runs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "model/nan.hpp"

namespace roofline {
namespace {

using Identity = std::tuple<std::string, std::string, std::string, DType, CacheMode,
                            std::vector<std::pair<std::string, std::int64_t>>>;

/// A program's kernels are known by their labels: how they are counted may differ from run to run. The configuration
/// that was the fastest may differ, too.
Identity identity_of(const Point& point) {
  const Workload& workload = point.workload;
  if (point.profiled) return {"", workload.label, "", DType::fp32, CacheMode::cold, {}};
  const std::string implementation = point.tried.empty() ? workload.implementation : "";
  return {workload.op, workload.label, implementation, workload.dtype, workload.cache, workload.shape.extents()};
}

/// Rows of a run that are still unmatched.
class Unmatched {
 public:
  explicit Unmatched(const Report& report) {
    for (std::size_t i = report.points.size(); i-- > 0;) rows_[identity_of(report.points[i])].push_back(i);
  }

  /// The first row left of that identity, taken out.
  std::optional<std::size_t> take(const Point& point) {
    const auto found = rows_.find(identity_of(point));
    if (found == rows_.end() || found->second.empty()) return std::nullopt;
    const std::size_t row = found->second.back();
    found->second.pop_back();
    return row;
  }

 private:
  std::map<Identity, std::vector<std::size_t>> rows_;  ///< the last first
};

/// Facts on which tools agree even if they name a kernel's place differently.
using Launch = std::tuple<std::string, std::array<std::int64_t, 3>, std::array<std::int64_t, 3>>;

/// A program's rows that no label matched are matched by kernel, grid and block, the slowest with the slowest, where
/// both runs have equally many left.
void match_by_launch(const Report& before, const Report& now, std::vector<bool>& matched,
                     std::vector<std::optional<std::size_t>>& partners) {
  std::map<Launch, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> left;
  const auto launch_of = [](const Point& point) {
    return Launch(point.workload.op, point.profiled->grid, point.profiled->block);
  };
  for (std::size_t i = 0; i < before.points.size(); ++i) {
    if (!matched[i] && before.points[i].profiled) left[launch_of(before.points[i])].first.push_back(i);
  }
  for (std::size_t i = 0; i < now.points.size(); ++i) {
    if (!partners[i] && now.points[i].profiled) left[launch_of(now.points[i])].second.push_back(i);
  }
  const auto slowest_first = [](std::vector<std::size_t>& rows, const Report& report) {
    const auto time = [&](std::size_t row) { return report.points[row].time ? report.points[row].time->median : 0; };
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return time(a) > time(b); });
  };
  for (auto& [launch, rows] : left) {
    auto& [then, today] = rows;
    if (then.size() != today.size()) continue;
    slowest_first(then, before);
    slowest_first(today, now);
    for (std::size_t i = 0; i < then.size(); ++i) {
      partners[today[i]] = then[i];
      matched[then[i]] = true;
    }
  }
}

bool is_timed(const Point* point) { return point != nullptr && point->time && point->time->median > 0; }

/// The interval; where too few samples give none, all that was seen.
Interval interval_of(const Summary& time) {
  if (time.ci95.low > 0 && time.ci95.high > 0) return time.ci95;
  return {std::min(time.min, time.median), std::max(time.max, time.median)};
}

void judge(PointChange& entry, const Point* before, const Point* now, double threshold) {
  entry.time_ratio = kNaN;
  entry.ratio_ci95 = {kNaN, kNaN};
  if (!is_timed(before) || !is_timed(now)) {
    entry.change = is_timed(before) ? Change::only_before : is_timed(now) ? Change::only_now : Change::untimed;
    return;
  }

  entry.time_ratio = now->time->median / before->time->median;
  entry.ratio_ci95 = quotient(interval_of(*now->time), interval_of(*before->time));
  if (entry.time_ratio > 1 + threshold && entry.ratio_ci95.low > 1) entry.change = Change::slower;
  if (entry.time_ratio < 1 / (1 + threshold) && entry.ratio_ci95.high < 1) entry.change = Change::faster;
}

}  // namespace

std::string_view to_string(RatioBasis basis) {
  constexpr std::array<std::string_view, 3> kWords = {"one run", "runs", "rounds"};
  return kWords[static_cast<std::size_t>(basis)];
}

std::vector<PointChange> match_rows(const Report& before, const Report& now) {
  Unmatched left(before);
  std::vector<bool> matched(before.points.size(), false);
  std::vector<PointChange> changes;
  std::vector<std::optional<std::size_t>> partners(now.points.size());
  for (std::size_t i = 0; i < now.points.size(); ++i) {
    partners[i] = left.take(now.points[i]);
    if (partners[i]) matched[*partners[i]] = true;
  }
  match_by_launch(before, now, matched, partners);
  for (std::size_t i = 0; i < now.points.size(); ++i) {
    PointChange entry;
    entry.now = i;
    entry.before = partners[i];
    changes.push_back(entry);
  }
  for (std::size_t i = 0; i < before.points.size(); ++i) {
    if (matched[i]) continue;
    PointChange entry;
    entry.before = i;
    changes.push_back(entry);
  }
  return changes;
}

std::vector<PointChange> compare_runs(const Report& before, const Report& now, double threshold) {
  std::vector<PointChange> changes = match_rows(before, now);
  for (PointChange& entry : changes) {
    judge(entry, entry.before ? &before.points[*entry.before] : nullptr, entry.now ? &now.points[*entry.now] : nullptr,
          threshold);
  }
  return changes;
}

bool regressed(const PointChange& change, double max_slowdown) {
  if (change.basis != RatioBasis::one_run) return change.change == Change::slower;
  return change.time_ratio > 1 + max_slowdown && change.ratio_ci95.low > 1;
}

}  // namespace roofline
