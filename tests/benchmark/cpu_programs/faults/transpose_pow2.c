// Transposes a matrix whose rows are a power of two apart.
#include <stdio.h>
#include <stdlib.h>
#ifdef FIXED
enum { kSize = 1024, kPitch = 1024 + 16, kBlock = 32 };
#else
enum { kSize = 1024, kPitch = 1024 };
#endif
static double from[kSize * kPitch], to[kSize * kPitch];
static void transpose(void) {
#ifdef FIXED
  for (int ib = 0; ib < kSize; ib += kBlock)
    for (int jb = 0; jb < kSize; jb += kBlock)
      for (int i = ib; i < ib + kBlock; ++i)
        for (int j = jb; j < jb + kBlock; ++j) to[j * kPitch + i] = from[i * kPitch + j];
#else
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) to[j * kPitch + i] = from[i * kPitch + j];  // FAULT
#endif
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 250;
  for (int i = 0; i < kSize * kPitch; ++i) from[i] = i;
  double sum = 0;
  for (int p = 0; p < passes; ++p) {
    from[p] += 1;
    transpose();
    sum += to[p];
  }
  printf("%g\n", sum);
}
