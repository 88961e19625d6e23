// Divides each value by the same norm.
#include <stdio.h>
#include <stdlib.h>
enum { kValues = 2048 };
static double value[kValues], scaled[kValues];
static void normalise(double norm) {
#ifdef FIXED
  const double factor = 1 / norm;
  for (int i = 0; i < kValues; ++i) scaled[i] = value[i] * factor;
#else
  for (int i = 0; i < kValues; ++i) scaled[i] = value[i] / norm;  // FAULT
#endif
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 2500000;
  for (int i = 0; i < kValues; ++i) value[i] = i + 1;
  double sum = 0;
  for (int p = 0; p < passes; ++p) {
    normalise(p + 3.0);
    sum += scaled[p % kValues];
  }
  printf("%g\n", sum);
}
