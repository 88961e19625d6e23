// Plane geometry of a chart, in CSS pixels with y pointing down: rectangles, and convex quads for what is
// rotated. No drawing.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace roofline {

struct Vec {
  double x = 0, y = 0;
  bool operator==(const Vec&) const = default;
};

inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y}; }
inline Vec operator*(Vec a, double k) { return {a.x * k, a.y * k}; }
inline double length(Vec v) { return std::hypot(v.x, v.y); }

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  Vec center() const { return {x + width / 2, y + height / 2}; }
  Rect inflated(double by) const { return {x - by, y - by, width + 2 * by, height + 2 * by}; }
  bool contains(Vec p) const { return p.x >= x && p.x <= right() && p.y >= y && p.y <= bottom(); }
  bool contains(const Rect& r) const { return r.x >= x && r.right() <= right() && r.y >= y && r.bottom() <= bottom(); }
  bool overlaps(const Rect& r) const { return x < r.right() && r.x < right() && y < r.bottom() && r.y < bottom(); }
};

/// The smallest rectangle that covers both.
inline Rect united(const Rect& a, const Rect& b) {
  const double x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
}

/// A convex quadrilateral, its corners in order.
struct Quad {
  std::array<Vec, 4> corners;

  static Quad from(const Rect& r) {
    return {{Vec{r.x, r.y}, Vec{r.right(), r.y}, Vec{r.right(), r.bottom()}, Vec{r.x, r.bottom()}}};
  }

  /// A stroke from `a` to `b`; not empty even where both are the same.
  static Quad stroke(Vec a, Vec b, double width) {
    const double l = length(b - a);
    const Vec along = l > 0 ? (b - a) * (width / 2 / l) : Vec{width / 2, 0};
    const Vec across = {-along.y, along.x};
    return {{a + across, b + across, b - across, a - across}};
  }

  /// Turned about `pivot` by `degrees`, clockwise on the screen as in SVG.
  Quad rotated(double degrees, Vec pivot) const {
    const double a = degrees * 3.14159265358979323846 / 180;
    Quad out;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Vec d = corners[i] - pivot;
      out.corners[i] = pivot + Vec{d.x * std::cos(a) - d.y * std::sin(a), d.x * std::sin(a) + d.y * std::cos(a)};
    }
    return out;
  }

  Rect bounds() const {
    Vec low = corners[0], high = corners[0];
    for (const Vec& c : corners) {
      low = {std::min(low.x, c.x), std::min(low.y, c.y)};
      high = {std::max(high.x, c.x), std::max(high.y, c.y)};
    }
    return {low.x, low.y, high.x - low.x, high.y - low.y};
  }
};

/// True if two quads share more than a border (separating axis theorem).
bool overlap(const Quad& a, const Quad& b);
bool overlaps_any(const Quad& quad, const std::vector<Quad>& others);
bool overlaps_any(const Quad& quad, const std::vector<Rect>& others);

/// The part of the line through `a` and `b` that lies in `r` between them; false if empty.
bool clip_segment(Vec& a, Vec& b, const Rect& r);

}  // namespace roofline
