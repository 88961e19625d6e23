// Outlier detection: a robust score per ceiling, with a threshold from the group's own noise. docs/fleet.md gives the
// reasons, tests/unit/fleet_test.cpp the false alarm rates.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fleet/fleet.hpp"
#include "measure/statistics.hpp"

namespace roofline {
namespace {

/// Machines from which the tail of the noise is estimated from the group itself.
constexpr std::size_t kEnoughForTail = 50;
/// Expected false alarms per 2,000 machines, or per group if it is larger, over all ceilings.
constexpr double kFalseAlarms = 0.5;
constexpr double kReferenceFleet = 2000;
/// Lower bound of the spread: repeated calibrations of one device differ by at least this.
constexpr double kLeastSpread = 0.0005;
constexpr double kMadToSigma = 1.4826;

/// One ceiling over all judged machines: logarithmic distances below the median.
struct Column {
  std::vector<std::pair<double, std::size_t>> values;  ///< with the machine
  std::vector<float> clocks, temperatures;
  std::vector<double> below;  ///< beside `values`
  std::vector<double> sorted;
  double sigma = 0;
};

double quantile_of(std::vector<double>& values, double p) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(p * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

void centre(Column& column, CeilingNorm& norm) {
  std::vector<double> values(column.values.size());
  std::transform(column.values.begin(), column.values.end(), values.begin(), [](const auto& v) { return v.first; });
  norm.median = median(values);
  std::vector<double> distances;
  for (const double value : values) {
    column.below.push_back(-std::log(value / norm.median));
    distances.push_back(std::abs(column.below.back()));
    norm.relative.push_back(static_cast<float>(value / norm.median - 1));
  }
  std::sort(norm.relative.begin(), norm.relative.end());
  column.sorted = column.below;
  std::sort(column.sorted.begin(), column.sorted.end());
  norm.spread = kMadToSigma * median(distances);
  column.sigma = std::max(norm.spread, kLeastSpread);
  norm.core_hz = upper_median(column.clocks);
  norm.temperature_c = upper_median(column.temperatures);
}

/// Threshold of the slow side at probability `p`, relative to its 90 % quantile: exponential extrapolation from the 75
/// % and 90 % quantiles, which faults of fewer than a tenth of the machines do not move.
double slow_tail(const Column& column, double p) {
  const double tenth = quantile(column.sorted, 0.9);
  const double quarter = quantile(column.sorted, 0.75);
  if (tenth <= kLeastSpread) return 1;
  return 1 + (tenth - quarter) / tenth * std::log(0.1 / p) / std::log(2.5);
}

/// The same from the fast side of all columns, whose extremes are noise, not faults: a power law whose exponent comes
/// from the last hundredth, at most that of Student's t with three degrees of freedom.
double fast_tail(const std::vector<const Column*>& columns, double p) {
  std::vector<double> beyond;  // in units of the column's 10 % quantile on that side
  for (const Column* column : columns) {
    const double tenth = std::max(-quantile(column->sorted, 0.1), 1.2816 * kLeastSpread);
    for (const double below : column->sorted) {
      if (below >= 0) break;
      beyond.push_back(-below / tenth);
    }
  }
  constexpr std::size_t kEnough = 1000;
  if (beyond.size() < kEnough) return 1;
  // Half of all values are on this side.
  const double hundredth = quantile_of(beyond, 1 - 0.02);
  const double thousandth = quantile_of(beyond, 1 - 0.002);
  const double exponent = std::clamp(std::log(thousandth / hundredth) / std::log(10), 0.0, 1.0 / 3);
  return thousandth * std::pow(std::max(0.001 / p, 1.0), exponent);
}

void set_thresholds(std::vector<CeilingNorm>& norms, std::vector<Column>& columns, std::size_t machines) {
  std::vector<const Column*> judged, large;
  std::vector<double> sigmas, slopes;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (norms[i].role != Role::roof || columns[i].values.size() < kFewestAlike) continue;
    judged.push_back(&columns[i]);
    sigmas.push_back(columns[i].sigma);
    if (columns[i].values.size() >= kEnoughForTail) large.push_back(&columns[i]);
  }
  if (judged.empty()) return;
  const double typical = median(sigmas);
  const double p =
      kFalseAlarms / std::max(kReferenceFleet, static_cast<double>(machines)) / static_cast<double>(judged.size());
  for (const Column* column : large) slopes.push_back(slow_tail(*column, p));
  const double usual_tail = slopes.empty() ? 1 : median(slopes);
  const double tail = std::max(usual_tail, fast_tail(large, p));
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const Column& column = columns[i];
    if (norms[i].role != Role::roof || column.values.size() < kFewestAlike) continue;
    const auto count = static_cast<double>(column.values.size());
    const bool few = column.values.size() < kEnoughForTail;
    // The spread of few values is unreliable: average it with the typical spread of all ceilings.
    const double weight = count / (count + 8);
    const double shared = std::sqrt(weight * column.sigma * column.sigma + (1 - weight) * typical * typical);
    const double sigma = few ? std::max(shared, typical) : column.sigma;
    double threshold = std::max(-std::log(1 - kLeastDeviation), (4.5 + 60 / count) * sigma);
    if (!few) {
      const double tenth = std::max(quantile(column.sorted, 0.9), 1.2816 * column.sigma);
      const bool own = column.values.size() >= 10 * kEnoughForTail;
      threshold = std::max(threshold, tenth * std::max(tail, own ? slow_tail(column, p) : 1));
    }
    norms[i].threshold = 1 - std::exp(-threshold);
  }
}

}  // namespace

double CeilingNorm::quantile(double p) const {
  const std::vector<double> values(relative.begin(), relative.end());
  return median * (1 + roofline::quantile(values, p));
}

bool FleetGroup::judged() const {
  return std::any_of(norms.begin(), norms.end(), [](const CeilingNorm& norm) { return norm.threshold.has_value(); });
}

void judge(FleetGroup& group, const std::vector<MachineSummary>& machines) {
  std::vector<Column> columns;
  std::unordered_map<std::string_view, std::size_t> known;
  group.norms.clear();
  for (const std::size_t machine : group.machines) {
    for (const CeilingSummary& ceiling : machines[machine].ceilings) {
      const auto [found, added] = known.emplace(ceiling.label, columns.size());
      if (added) {
        columns.emplace_back();
        CeilingNorm& norm = group.norms.emplace_back();
        norm.label = ceiling.label;
        norm.kind = ceiling.kind;
        norm.pipe = ceiling.pipe;
        norm.role = ceiling.role;
      }
      if (ceiling.audit != CheckStatus::pass) {
        group.norms[found->second].suspects.push_back(machine);
        continue;
      }
      Column& column = columns[found->second];
      column.values.emplace_back(ceiling.value, machine);
      if (ceiling.core_hz > 0) column.clocks.push_back(ceiling.core_hz);
      if (!std::isnan(ceiling.temperature_c)) column.temperatures.push_back(ceiling.temperature_c);
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) centre(columns[i], group.norms[i]);
  set_thresholds(group.norms, columns, group.machines.size());

  std::unordered_map<std::size_t, Outlier> outliers;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const CeilingNorm& norm = group.norms[i];
    if (!norm.threshold) continue;
    const double threshold = -std::log(1 - *norm.threshold);
    for (std::size_t k = 0; k < columns[i].values.size(); ++k) {
      const double below = columns[i].below[k];
      if (below < threshold * (1 - 1e-12)) continue;
      const auto& [value, machine] = columns[i].values[k];
      outliers[machine].slow.push_back(
          {norm.label, norm.kind, norm.pipe, value, value / norm.median - 1, below / columns[i].sigma});
    }
  }
  group.outliers.clear();
  for (auto& [machine, outlier] : outliers) {
    outlier.machine = machine;
    std::stable_sort(outlier.slow.begin(), outlier.slow.end(),
                     [](const Deviation& a, const Deviation& b) { return a.relative < b.relative; });
    group.outliers.push_back(std::move(outlier));
  }
  std::sort(group.outliers.begin(), group.outliers.end(), [](const Outlier& a, const Outlier& b) {
    return std::pair(a.slow.front().relative, a.machine) < std::pair(b.slow.front().relative, b.machine);
  });
  std::stable_partition(group.norms.begin(), group.norms.end(),
                        [](const CeilingNorm& norm) { return norm.role == Role::roof; });
  group.gaps = gaps_of(group, machines);
}

}  // namespace roofline
