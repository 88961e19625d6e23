// A product of matrices whose inner loop goes down a column of the second one.
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void multiply(int n, const double *a, const double *b, double *c) {
  for (int i = 0; i < n; ++i)
#ifdef FIXED
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
#else
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
#endif
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1200;
  double *a = malloc(8L * n * n), *b = malloc(8L * n * n), *c = calloc((size_t)n * n, 8);
  for (int i = 0; i < n * n; ++i) { a[i] = i % 13; b[i] = i % 7; }
  multiply(n, a, b, c);
  printf("%g\n", c[n + 1]);
}
