// A polygon is passed by value to each test of a point; without the fault by reference.
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Point {
  double x, y;
};
#ifdef FIXED
using Polygon = const std::vector<Point>&;
#else
using Polygon = std::vector<Point>;
#endif
__attribute__((noinline)) static bool left_of_first(Polygon polygon, Point p) {
  const Point &a = polygon[0], &b = polygon[1];
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) > 0;
}
int main(int argc, char** argv) {
  long tests = argc > 1 ? std::atol(argv[1]) : 12000000;
  std::vector<Point> polygon;
  for (int i = 0; i < 500; ++i) polygon.push_back({i * 0.1, i * i * 0.01});
  long inside = 0;
  for (long i = 0; i < tests; ++i) inside += left_of_first(polygon, {i % 100 * 0.3, 1.0});
  std::printf("%ld\n", inside);
}
