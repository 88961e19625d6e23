// A bank of filters whose states decay to subnormal numbers in silence.
#include <stdio.h>
#include <stdlib.h>
#ifdef FIXED
#include <xmmintrin.h>
#endif
enum { kChannels = 4096 };
static float state[kChannels];
static void step(const float* input, float decay) {
  for (int c = 0; c < kChannels; ++c) state[c] = state[c] * decay + input[c] * 0.5f;  // FAULT
}
int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 3000000;
#ifdef FIXED
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  static float silence[kChannels], sound[kChannels];
  for (int c = 0; c < kChannels; ++c) sound[c] = 1e-38f * (c + 1) / kChannels;
  for (int s = 0; s < steps; ++s) step(s % 100 == 0 ? sound : silence, 0.999f);
  printf("%g\n", state[5]);
}
