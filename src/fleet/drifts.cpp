// Steps and drifts of one machine's ceilings over its calibrations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fleet/fleet.hpp"
#include "measure/statistics.hpp"

namespace roofline {
namespace {

struct Series {
  CeilingKind kind = CeilingKind::bandwidth;
  std::vector<double> logs;                      ///< logarithms of the values, by time
  std::vector<const MachineSummary*> summaries;  ///< the calibration of each value
};

double median_of(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  return median(
      {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)});
}

/// Sum of absolute residuals of two levels: before `cut`, and from it on.
double misfit(const std::vector<double>& values, std::size_t cut) {
  double sum = 0;
  const double before = cut > 0 ? median_of(values, 0, cut) : 0;
  const double after = median_of(values, cut, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sum += std::abs(values[i] - (i < cut ? before : after));
  return sum;
}

struct Line {
  double slope = 0;  ///< per file: median over all pairs (Theil-Sen)
  double misfit = 0;
};

Line line_through(const std::vector<double>& values) {
  std::vector<double> slopes, levels;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i + 1; k < values.size(); ++k) {
      slopes.push_back((values[k] - values[i]) / static_cast<double>(k - i));
    }
  }
  Line line{.slope = median(slopes)};
  for (std::size_t i = 0; i < values.size(); ++i) levels.push_back(values[i] - line.slope * static_cast<double>(i));
  const double level = median(levels);
  for (const double value : levels) line.misfit += std::abs(value - level);
  return line;
}

std::string changed_facts(const MachineSummary& before, const MachineSummary& after) {
  std::string text;
  for (const Attribute& fact : after.facts) {
    const std::string* then = find_attribute(before.facts, fact.name);
    if (then == nullptr || *then == fact.value) continue;
    text += fmt::format("{}{} {} before, {} then", text.empty() ? "" : "; ", fact.name, *then, fact.value);
  }
  return text;
}

/// The best fit of step, drift and constant; a step or drift must be large and exceed the scatter.
std::optional<CeilingDrift> change_in(const Series& series) {
  const std::vector<double>& values = series.logs;
  if (values.size() < 2) return std::nullopt;
  std::size_t cut = 1;
  for (std::size_t i = 2; i < values.size(); ++i) {
    if (misfit(values, i) < misfit(values, cut)) cut = i;
  }
  const double scatter_of_step = misfit(values, cut) / static_cast<double>(values.size());
  const double step = median_of(values, cut, values.size()) - median_of(values, 0, cut);
  CeilingDrift change;
  change.kind = series.kind;
  // With fewer than five files a line overfits.
  constexpr std::size_t kFewestOfLine = 5;
  constexpr double kBeyondScatter = 4;
  const double least = -std::log(1 - kLeastDeviation);
  if (values.size() >= kFewestOfLine) {
    const Line line = line_through(values);
    const double total = line.slope * static_cast<double>(values.size() - 1);
    const double scatter = line.misfit / static_cast<double>(values.size());
    if (line.misfit < misfit(values, cut) && std::abs(total) >= std::max(least, kBeyondScatter * scatter)) {
      change.step = false;
      change.ratio = std::exp(total);
      change.from = series.summaries.front()->measured_at;
      change.to = series.summaries.back()->measured_at;
      return change;
    }
  }
  if (std::abs(step) < std::max(least, kBeyondScatter * scatter_of_step)) return std::nullopt;
  change.ratio = std::exp(step);
  change.from = series.summaries[cut - 1]->measured_at;
  change.to = series.summaries[cut]->measured_at;
  change.along = changed_facts(*series.summaries[cut - 1], *series.summaries[cut]);
  return change;
}

}  // namespace

std::vector<CeilingDrift> drifts_of(const std::vector<const MachineSummary*>& history, std::size_t machine) {
  std::vector<std::string_view> order;
  std::map<std::string_view, Series> all;
  for (const MachineSummary* summary : history) {
    for (const CeilingSummary& ceiling : summary->ceilings) {
      if (ceiling.role != Role::roof || ceiling.audit != CheckStatus::pass) continue;
      const auto [found, added] = all.try_emplace(ceiling.label);
      if (added) order.push_back(ceiling.label);
      found->second.kind = ceiling.kind;
      found->second.logs.push_back(std::log(ceiling.value));
      found->second.summaries.push_back(summary);
    }
  }
  std::vector<CeilingDrift> drifts;
  for (const std::string_view label : order) {
    std::optional<CeilingDrift> change = change_in(all[label]);
    if (!change) continue;
    change->machine = machine;
    change->label = label;
    drifts.push_back(std::move(*change));
  }
  return drifts;
}

}  // namespace roofline
