// A plain STREAM, written from its specification (J. D. McCalpin, "Memory Bandwidth and Machine Balance"), as a peer
// for roofline's DRAM ceilings: scripts/compare-cpu compiles it with -O3 -march=native -fopenmp. No stores past the
// caches, no prefetches, nothing but what the compiler makes of four loops.
//   stream ELEMENTS [TIMES]     prints "copy 12.3 GB/s" … : the best of TIMES - 1 runs, as the rules say
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

constexpr double kScalar = 3;

template <typename Loop>
double seconds_of(Loop&& loop) {
  const auto start = std::chrono::steady_clock::now();
  loop();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Free {
  void operator()(double* memory) const { std::free(memory); }
};
using Array = std::unique_ptr<double[], Free>;

Array allocate(std::size_t count) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t bytes = (count * sizeof(double) + kAlignment - 1) / kAlignment * kAlignment;
  return Array(static_cast<double*>(std::aligned_alloc(kAlignment, bytes)));
}

/// The same arithmetic on one element: every element of an array must have come to it.
bool is_right(const double* a, const double* b, const double* c, std::ptrdiff_t count, int times) {
  double x = 1;
  double y = 2;
  double z = 0;
  for (int time = 0; time < times; ++time) {
    z = x;
    y = kScalar * z;
    z = x + y;
    x = y + kScalar * z;
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (std::abs(a[i] / x - 1) > 1e-13 || std::abs(b[i] / y - 1) > 1e-13 || std::abs(c[i] / z - 1) > 1e-13)
      return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::ptrdiff_t count = argc > 1 ? std::atoll(argv[1]) : 0;
  const int times = argc > 2 ? std::atoi(argv[2]) : 10;
  if (count < 1 || times < 2) {
    std::fprintf(stderr, "usage: stream ELEMENTS [TIMES], with 2 times at least\n");
    return 2;
  }
  const Array memory[3] = {allocate(static_cast<std::size_t>(count)), allocate(static_cast<std::size_t>(count)),
                           allocate(static_cast<std::size_t>(count))};
  double* __restrict a = memory[0].get();
  double* __restrict b = memory[1].get();
  double* __restrict c = memory[2].get();
  if (a == nullptr || b == nullptr || c == nullptr) {
    std::fprintf(stderr, "stream: not enough memory for 3 arrays of %td elements\n", count);
    return 1;
  }
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) a[i] = 1, b[i] = 2, c[i] = 0;

  double best[4] = {1e30, 1e30, 1e30, 1e30};
  for (int time = 0; time < times; ++time) {
    const double seconds[4] = {seconds_of([&] {
#pragma omp parallel for schedule(static)
                                 for (std::ptrdiff_t i = 0; i < count; ++i) c[i] = a[i];
                               }),
                               seconds_of([&] {
#pragma omp parallel for schedule(static)
                                 for (std::ptrdiff_t i = 0; i < count; ++i) b[i] = kScalar * c[i];
                               }),
                               seconds_of([&] {
#pragma omp parallel for schedule(static)
                                 for (std::ptrdiff_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
                               }),
                               seconds_of([&] {
#pragma omp parallel for schedule(static)
                                 for (std::ptrdiff_t i = 0; i < count; ++i) a[i] = b[i] + kScalar * c[i];
                               })};
    for (int loop = 0; loop < 4 && time > 0; ++loop) best[loop] = std::min(best[loop], seconds[loop]);
  }
  if (!is_right(a, b, c, count, times)) {
    std::fprintf(stderr, "stream: wrong result\n");
    return 1;
  }
  const char* names[4] = {"copy", "scale", "add", "triad"};
  const double arrays[4] = {2, 2, 3, 3};
  for (int loop = 0; loop < 4; ++loop) {
    std::printf("%s %.3f GB/s\n", names[loop], arrays[loop] * 8e-9 * static_cast<double>(count) / best[loop]);
  }
}
