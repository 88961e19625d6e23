#include "profile/memory_curve.hpp"

#include <algorithm>
#include <cstddef>

namespace roofline {
namespace {

constexpr std::size_t kMostPoints = 800;

}  // namespace

std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& points) {
  if (points.size() <= kMostPoints) return points;
  const double begin = points.front().time_s, length = points.back().time_s - begin;
  std::vector<MemoryPoint> kept;
  std::size_t bucket = kMostPoints;
  for (const MemoryPoint& point : points) {
    const double share = length > 0 ? (point.time_s - begin) / length : 0;
    const auto at = std::min(kMostPoints - 1, static_cast<std::size_t>(share * static_cast<double>(kMostPoints)));
    if (at != bucket) {
      kept.push_back(point);
      bucket = at;
      continue;
    }
    MemoryPoint& last = kept.back();
    if (point.allocated > last.allocated) last.time_s = point.time_s;
    last.allocated = std::max(last.allocated, point.allocated);
    last.reserved = std::max(last.reserved, point.reserved);
  }
  return kept;
}

}  // namespace roofline
