// Distances of all pairs: the first rows have the most pairs, and threads get equal numbers of rows.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { kPoints = 12000 };
static double x[kPoints], y[kPoints], nearest[kPoints];
static void distances(void) {
#ifdef FIXED
#pragma omp parallel for schedule(dynamic, 16)
#else
#pragma omp parallel for schedule(static)  // FAULT
#endif
  for (int i = 0; i < kPoints; ++i) {
    double least = 1e300;
    for (int j = i + 1; j < kPoints; ++j) {  // FAULT
      const double dx = x[i] - x[j], dy = y[i] - y[j], d = dx * dx + dy * dy;
      if (d < least) least = d;
    }
    nearest[i] = sqrt(least);
  }
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 40;
  srand(1);
  for (int i = 0; i < kPoints; ++i) x[i] = rand() * 1e-9, y[i] = rand() * 1e-9;
  double sum = 0;
  for (int p = 0; p < passes; ++p) {
    x[p] += 1e-3;
    distances();
    sum += nearest[p];
  }
  printf("%g\n", sum);
}
