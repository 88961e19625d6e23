// Counts and sums values over a threshold, in random order.
#include <stdio.h>
#include <stdlib.h>
enum { kValues = 1 << 18 };
static int value[kValues];
static int order(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
static long over(int threshold) {
  long sum = 0, rest = 1;
  for (int i = 0; i < kValues; ++i) {
    if (value[i] >= threshold)  // FAULT
      sum += value[i];
    else
      rest = rest * 3 + sum;
  }
  return sum + rest;
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 2500;
  srand(5);
  for (int i = 0; i < kValues; ++i) value[i] = rand() % 256;
#ifdef FIXED
  qsort(value, kValues, sizeof *value, order);
#else
  (void)order;
#endif
  long sum = 0;
  for (int p = 0; p < passes; ++p) sum += over(128);
  printf("%ld\n", sum);
}
