// Each cell of a grid takes its scratch space from malloc; without the fault it is on the stack.
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static double cell(int i, int n) {
#ifdef FIXED
  double scratch[16];
#else
  double *scratch = malloc(sizeof(double) * (size_t)n);
#endif
  for (int k = 0; k < n; ++k) scratch[k] = i * k;
  double best = 0;
  for (int k = 0; k < n; ++k) if (scratch[k] > best) best = scratch[k];
#ifndef FIXED
  free(scratch);
#endif
  return best;
}
int main(int argc, char **argv) {
  int cells = argc > 1 ? atoi(argv[1]) : 180000000;
  double sum = 0;
  for (int i = 0; i < cells; ++i) sum += cell(i, 6);
  printf("%g\n", sum);
}
