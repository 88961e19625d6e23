// A streaming triad on all threads.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
constexpr std::size_t kSize = 16'000'000;
std::vector<double> a(kSize, 1), b(kSize, 2), c(kSize, 3);
void triad(std::size_t begin, std::size_t end, int passes) {
  double* __restrict x = a.data(), * __restrict y = b.data(), * __restrict z = c.data();
  for (int p = 0; p < passes; ++p)
    for (std::size_t i = begin; i < end; ++i) x[i] = y[i] + (p + 0.5) * z[i];
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 150;
  const std::size_t threads = std::thread::hardware_concurrency();
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t)
    running.emplace_back(triad, kSize * t / threads, kSize * (t + 1) / threads, passes);
  for (auto& thread : running) thread.join();
  std::printf("%g\n", a[7]);
}
