// The area of many small shapes, by a virtual call for each.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
struct Shape {
  virtual ~Shape() = default;
  virtual float area() const = 0;
};
struct Square : Shape {
  explicit Square(float side) : side_(side) {}
  float area() const override { return side_ * side_; }
  float side_;
};
struct Circle : Shape {
  explicit Circle(float radius) : radius_(radius) {}
  float area() const override { return 3.14159f * radius_ * radius_; }
  float radius_;
};
float total(const std::vector<std::unique_ptr<Shape>>& shapes, const std::vector<float>& squares,
            const std::vector<float>& circles) {
  float sum[8] = {};
#ifdef FIXED
  for (std::size_t i = 0; i < squares.size(); ++i) sum[i % 8] += squares[i] * squares[i];
  for (std::size_t i = 0; i < circles.size(); ++i) sum[i % 8] += 3.14159f * circles[i] * circles[i];
  (void)shapes;
#else
  for (const auto& shape : shapes) sum[0] += shape->area();  // FAULT
  (void)squares, (void)circles;
#endif
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 40000;
  std::vector<std::unique_ptr<Shape>> shapes;
  std::vector<float> squares, circles;
  for (int i = 0; i < 20000; ++i) {
    (i * 7919 % 13 < 6 ? squares : circles).push_back(i * 0.001f);
    if (i * 7919 % 13 < 6)
      shapes.push_back(std::make_unique<Square>(i * 0.001f));
    else
      shapes.push_back(std::make_unique<Circle>(i * 0.001f));
  }
  double sum = 0;
  for (int p = 0; p < passes; ++p) {
    squares[p % squares.size()] += 1;
    sum += total(shapes, squares, circles);
  }
  std::printf("%g\n", sum);
}
