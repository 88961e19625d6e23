// A dot product on the CPU, once as everybody writes it first, and once by all threads.
#include <stdint.h>

void dot_plain(const float* x, const float* y, float* sum, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += (double)x[i] * y[i];
  *sum = (float)total;
}

// Each thread sums its share. LANES sums at once keep the CPU's pipelines busy; one would wait for itself.
void dot_share(const float* x, const float* y, float* shares, int64_t n, int32_t thread, int32_t threads) {
  const int64_t begin = n * thread / threads;
  const int64_t end = n * (thread + 1) / threads;
  float sums[LANES] = {0};
  int64_t i = begin;
  for (; i + LANES <= end; i += LANES) {
    for (int lane = 0; lane < LANES; ++lane) sums[lane] += x[i + lane] * y[i + lane];
  }
  double total = 0;
  for (int lane = 0; lane < LANES; ++lane) total += sums[lane];
  for (; i < end; ++i) total += (double)x[i] * y[i];
  shares[16 * thread] = (float)total;  // a cache line of its own
}

void dot_join(const float* shares, float* sum, int32_t threads) {
  double total = 0;
  for (int32_t thread = 0; thread < threads; ++thread) total += shares[16 * thread];
  *sum = (float)total;
}
