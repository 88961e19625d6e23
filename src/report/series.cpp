// Finds ladders and sweeps among a report's rows, using only what was run and whether it was timed.
#include "report/series.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace roofline {
namespace {

using Extents = std::vector<std::pair<std::string, std::int64_t>>;

bool is_timed(const Point& point) { return point.time && point.time->median > 0; }

bool same_names(const Extents& a, const Extents& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

/// True if no extent shrinks from `a` to `b`, and one grows.
bool grows(const Extents& a, const Extents& b) {
  bool any = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (b[i].second < a[i].second) return false;
    any |= b[i].second > a[i].second;
  }
  return any;
}

/// True if the extents that change from `a` to `b` are those that change over the whole sweep.
bool changes_the_same(const Extents& a, const Extents& b, const Extents& first, const Extents& last) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if ((a[i].second != b[i].second) != (first[i].second != last[i].second)) return false;
  return true;
}

std::string joined(std::initializer_list<std::string> words) {
  std::string text;
  for (const std::string& word : words)
    if (!word.empty()) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string hot(const Workload& w) { return w.cache == CacheMode::hot ? "hot" : ""; }

std::string shape_text(const Extents& extents) {
  std::string text;
  for (const auto& [name, extent] : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

/// Rows of one implementation from the smallest to the largest size, each size once; empty if they are no sweep.
std::vector<std::size_t> sweep_of(const Report& report, std::vector<std::size_t> rows) {
  const auto extents = [&](std::size_t row) -> const Extents& { return report.points[row].workload.shape.extents(); };
  const auto smaller = [&](std::size_t a, std::size_t b) {
    const auto value = [](const auto& x, const auto& y) { return x.second < y.second; };
    return std::lexicographical_compare(extents(a).begin(), extents(a).end(), extents(b).begin(), extents(b).end(),
                                        value);
  };
  std::stable_sort(rows.begin(), rows.end(), smaller);
  const auto same = [&](std::size_t a, std::size_t b) { return extents(a) == extents(b); };
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
  if (rows.size() < 3) return {};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Extents &a = extents(rows[i - 1]), &b = extents(rows[i]);
    if (!same_names(a, b) || !grows(a, b)) return {};
    if (!changes_the_same(a, b, extents(rows.front()), extents(rows.back()))) return {};
  }
  return rows;
}

std::vector<Series> sweeps_of(const Report& report) {
  std::map<std::tuple<std::string, std::string, DType, CacheMode>, std::vector<std::size_t>> candidates;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Workload& w = report.points[i].workload;
    if (is_timed(report.points[i])) candidates[{w.op, w.implementation, w.dtype, w.cache}].push_back(i);
  }
  std::vector<Series> out;
  for (const auto& [key, rows] : candidates) {
    std::vector<std::size_t> points = sweep_of(report, rows);
    if (points.empty()) continue;
    const Workload& w = report.points[points.front()].workload;
    out.push_back({SeriesKind::sweep, joined({w.op, std::string(to_string(w.dtype)), w.implementation, hot(w)}),
                   std::move(points)});
  }
  return out;
}

std::vector<Series> ladders_of(const Report& report, const std::set<std::size_t>& taken) {
  std::map<std::tuple<std::string, Extents, DType, CacheMode>, std::vector<std::size_t>> candidates;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Workload& w = report.points[i].workload;
    if (!is_timed(report.points[i]) || taken.contains(i)) continue;
    auto& steps = candidates[{w.op, w.shape.extents(), w.dtype, w.cache}];
    const auto repeats = [&](std::size_t step) {
      return report.points[step].workload.implementation == w.implementation;
    };
    if (std::none_of(steps.begin(), steps.end(), repeats)) steps.push_back(i);
  }
  std::vector<Series> out;
  for (auto& [key, steps] : candidates) {
    if (steps.size() < 2) continue;
    const Workload& w = report.points[steps.front()].workload;
    out.push_back({SeriesKind::ladder,
                   joined({w.op, std::string(to_string(w.dtype)), shape_text(w.shape.extents()), hot(w)}),
                   std::move(steps)});
  }
  return out;
}

}  // namespace

std::vector<Series> series_of(const Report& report) {
  std::vector<Series> all = sweeps_of(report);
  std::set<std::size_t> taken;
  for (const Series& sweep : all) taken.insert(sweep.points.begin(), sweep.points.end());
  for (Series& ladder : ladders_of(report, taken)) all.push_back(std::move(ladder));
  // In the order of the rows, not of the map's names.
  const auto first = [](const Series& s) { return *std::min_element(s.points.begin(), s.points.end()); };
  std::stable_sort(all.begin(), all.end(), [&](const Series& a, const Series& b) { return first(a) < first(b); });
  return all;
}

}  // namespace roofline
