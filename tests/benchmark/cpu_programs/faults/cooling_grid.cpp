// Heat that decays to subnormal numbers in most cells of a grid; without the fault they are flushed to zero.
#include <xmmintrin.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
__attribute__((noinline)) static void cool(std::vector<float>& next, const std::vector<float>& now) {
  for (std::size_t i = 1; i + 1 < now.size(); ++i) next[i] = 0.33f * (now[i - 1] + now[i] + now[i + 1]) * 0.9f;
}
int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 250000;
#ifdef FIXED
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  std::vector<float> now(16384, 0.0f), next(16384, 0.0f);
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < 16384; i += 1024) now[i] = 1.0f;
    cool(next, now);
    now.swap(next);
  }
  std::printf("%g\n", now[512]);
}
