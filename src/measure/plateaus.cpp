// Plateaus grow greedily from the left: a point joins while all points stay near their median.
#include "measure/plateaus.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

constexpr double kWithin = 0.08;
constexpr double kOneLevel = 0.15;
constexpr std::size_t kLeastPoints = 3;
constexpr double kSaturated = 0.95;
constexpr double kLost = 0.1;

double median_of(std::span<const SweepPoint> points) {
  std::vector<double> values;
  for (const SweepPoint& point : points) values.push_back(point.value);
  return median(std::move(values));
}

bool level_segment(std::span<const SweepPoint> points) {
  const double middle = median_of(points);
  return std::all_of(points.begin(), points.end(),
                     [&](const SweepPoint& point) { return std::abs(point.value - middle) <= kWithin * middle; });
}

/// Number of leading points of `points` that form one plateau.
std::size_t segment_length(std::span<const SweepPoint> points) {
  std::size_t length = 1;
  while (length < points.size() && level_segment(points.first(length + 1))) ++length;
  return length;
}

struct Segment {
  std::size_t first = 0;
  std::size_t length = 0;
};

std::vector<Segment> segments_of(std::span<const SweepPoint> points) {
  std::vector<Segment> segments;
  for (std::size_t first = 0; first < points.size();) {
    const std::size_t length = segment_length(points.subspan(first));
    if (length >= kLeastPoints) {
      segments.push_back({first, length});
      first += length;
    } else {
      ++first;
    }
  }
  return segments;
}

Plateau plateau_of(std::span<const SweepPoint> points) {
  return {.from = points.front().x, .to = points.back().x, .value = median_of(points)};
}

}  // namespace

std::vector<Plateau> find_plateaus(std::span<const SweepPoint> points) {
  std::vector<Plateau> plateaus;
  Segment last;
  for (const Segment& segment : segments_of(points)) {
    const Plateau next = plateau_of(points.subspan(segment.first, segment.length));
    const bool touches = !plateaus.empty() && last.first + last.length == segment.first;
    if (touches && std::abs(next.value - plateaus.back().value) <= kOneLevel * plateaus.back().value) {
      last.length += segment.length;
      plateaus.back() = plateau_of(points.subspan(last.first, last.length));
    } else {
      plateaus.push_back(next);
      last = segment;
    }
  }
  return plateaus;
}

std::vector<double> find_boundaries(std::span<const SweepPoint> points, std::span<const Plateau> plateaus) {
  std::vector<double> boundaries;
  for (std::size_t i = 0; i + 1 < plateaus.size(); ++i) {
    const double upper = std::log(plateaus[i].value);
    const double level = upper + kLost * (std::log(plateaus[i + 1].value) - upper);
    double at = std::sqrt(plateaus[i].to * plateaus[i + 1].from);
    for (std::size_t p = 0; p + 1 < points.size(); ++p) {
      // From the middle of the first plateau on, because its last points may already be beyond the knee.
      if (points[p].x < std::sqrt(plateaus[i].from * plateaus[i].to) || points[p + 1].x > plateaus[i + 1].from)
        continue;
      const double here = std::log(points[p].value) - level;
      const double there = std::log(points[p + 1].value) - level;
      if ((here > 0) == (there > 0)) continue;
      const double way = here / (here - there);
      at = std::exp(std::log(points[p].x) + way * (std::log(points[p + 1].x) - std::log(points[p].x)));
      // The last crossing counts; a single low point within the level is noise.
    }
    boundaries.push_back(at);
  }
  return boundaries;
}

std::optional<double> saturation_point(std::span<const SweepPoint> points) {
  if (points.empty()) return std::nullopt;
  const auto less = [](const SweepPoint& a, const SweepPoint& b) { return a.value < b.value; };
  const double most = std::max_element(points.begin(), points.end(), less)->value;
  const auto first = std::find_if(points.begin(), points.end(),
                                  [&](const SweepPoint& point) { return point.value >= kSaturated * most; });
  return first->x;
}

}  // namespace roofline
