// Overlap of convex quads and clipping of segments.
#include "render/chart/geometry.hpp"

namespace roofline {
namespace {

bool separated_by_edges_of(const Quad& a, const Quad& b) {
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec edge = a.corners[(i + 1) % 4] - a.corners[i];
    const Vec normal = {-edge.y, edge.x};
    if (normal.x == 0 && normal.y == 0) continue;
    const auto extent = [normal](const Quad& q) {
      double low = 0, high = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const double d = q.corners[k].x * normal.x + q.corners[k].y * normal.y;
        low = k == 0 ? d : std::min(low, d);
        high = k == 0 ? d : std::max(high, d);
      }
      return std::pair{low, high};
    };
    const auto [a_low, a_high] = extent(a);
    const auto [b_low, b_high] = extent(b);
    if (a_high <= b_low || b_high <= a_low) return true;
  }
  return false;
}

bool is_upright(const Quad& q) {
  return q.corners[0].y == q.corners[1].y && q.corners[1].x == q.corners[2].x && q.corners[2].y == q.corners[3].y &&
         q.corners[3].x == q.corners[0].x;
}

}  // namespace

bool overlap(const Quad& a, const Quad& b) {
  if (!a.bounds().overlaps(b.bounds())) return false;
  if (is_upright(a) && is_upright(b)) return true;
  return !separated_by_edges_of(a, b) && !separated_by_edges_of(b, a);
}

bool overlaps_any(const Quad& quad, const std::vector<Quad>& others) {
  return std::any_of(others.begin(), others.end(), [&](const Quad& other) { return overlap(quad, other); });
}

bool overlaps_any(const Quad& quad, const std::vector<Rect>& others) {
  const Rect bounds = quad.bounds();
  return std::any_of(others.begin(), others.end(),
                     [&](const Rect& other) { return bounds.overlaps(other) && overlap(quad, Quad::from(other)); });
}

bool clip_segment(Vec& a, Vec& b, const Rect& r) {
  // Liang-Barsky: the parameter range of a + t (b - a) that satisfies all four half-planes.
  const Vec d = b - a;
  double t0 = 0, t1 = 1;
  const auto half_plane = [&](double p, double q) {
    if (p == 0) return q >= 0;
    const double t = q / p;
    if (p < 0) t0 = std::max(t0, t);
    if (p > 0) t1 = std::min(t1, t);
    return t0 <= t1;
  };
  if (!half_plane(-d.x, a.x - r.x) || !half_plane(d.x, r.right() - a.x)) return false;
  if (!half_plane(-d.y, a.y - r.y) || !half_plane(d.y, r.bottom() - a.y)) return false;
  b = a + d * t1;
  a = a + d * t0;
  return true;
}

}  // namespace roofline
