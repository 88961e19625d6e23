// Single precision data with constants in double precision.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { kSamples = 1 << 13 };
static float in[kSamples], out[kSamples];
static void shape(void) {
#ifdef FIXED
  for (int i = 0; i < kSamples; ++i) out[i] = in[i] * 0.3f + 0.1f + in[i] * in[i] * 0.7f;
#else
  for (int i = 0; i < kSamples; ++i) out[i] = in[i] * 0.3 + 0.1 + in[i] * in[i] * 0.7;  // FAULT
#endif
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 1000000;
  for (int i = 0; i < kSamples; ++i) in[i] = i * 0.25f;
  double sum = 0;
  for (int p = 0; p < passes; ++p) {
    in[p % kSamples] += 1;
    shape();
    sum += out[p * 7 % kSamples];
  }
  printf("%g\n", sum);
}
