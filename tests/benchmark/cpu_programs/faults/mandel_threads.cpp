// A fractal in halves: the upper half of the rows is much cheaper than the lower one, std::thread gets one half each.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
static const int kWidth = 800, kHeight = 800;
static int limit = 12000;
__attribute__((noinline)) static int escape(double cr, double ci) {
  double x = 0, y = 0;
  int i = 0;
  for (; i < limit && x * x + y * y < 4; ++i) {
    double t = x * x - y * y + cr;
    y = 2 * x * y + ci;
    x = t;
  }
  return i;
}
static void row(std::vector<int>& image, int y) {
  for (int x = 0; x < kWidth; ++x) image[y * kWidth + x] = escape(-2.2 + 3.0 * x / kWidth, -1.6 + 2.6 * y / kHeight);
}
int main(int argc, char** argv) {
  if (argc > 1) limit = std::atoi(argv[1]);
  std::vector<int> image(kWidth * kHeight);
  std::vector<std::thread> threads;
#ifdef FIXED
  std::atomic<int> next{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (int y; (y = next++) < kHeight;) row(image, y);
    });
#else
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (int y = t * kHeight / 2; y < (t + 1) * kHeight / 2; ++y) row(image, y);
    });
#endif
  for (auto& t : threads) t.join();
  long sum = 0;
  for (int v : image) sum += v;
  std::printf("%ld\n", sum);
}
