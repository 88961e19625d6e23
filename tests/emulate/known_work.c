/* Programs whose work is known: STREAM's four loops, and products of matrices by a library.
   Usage: known_work stream REPEATS | product LIBRARY M N K CALLS */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noipa, aligned(64)))
enum { STREAM_N = 1 << 17 };
static double a[STREAM_N] __attribute__((aligned(64))), b[STREAM_N] __attribute__((aligned(64))),
    c[STREAM_N] __attribute__((aligned(64)));

KERNEL void stream_copy(double* restrict to, const double* restrict from, long n) {
  for (long i = 0; i < n; i++) to[i] = from[i];
}
KERNEL void stream_scale(double* restrict to, const double* restrict from, double factor, long n) {
  for (long i = 0; i < n; i++) to[i] = factor * from[i];
}
KERNEL void stream_add(double* restrict to, const double* restrict p, const double* restrict q, long n) {
  for (long i = 0; i < n; i++) to[i] = p[i] + q[i];
}
KERNEL void stream_triad(double* restrict to, const double* restrict p, const double* restrict q, double factor,
                         long n) {
  for (long i = 0; i < n; i++) to[i] = p[i] + factor * q[i];
}

static int stream(int repeats) {
  for (long i = 0; i < STREAM_N; i++) a[i] = 1, b[i] = 2;
  for (int k = 0; k < repeats; k++) {
    stream_copy(c, a, STREAM_N);
    stream_scale(b, c, 3, STREAM_N);
    stream_add(c, a, b, STREAM_N);
    stream_triad(a, b, c, 3, STREAM_N);
  }
  return 7;
}

typedef void Product(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                     int);

static int product(char** words) {
  void* const library = dlopen(words[0], RTLD_NOW);
  Product* const multiply = library ? (Product*)dlsym(library, "cblas_dgemm") : NULL;
  if (!multiply) return 77;
  const int m = atoi(words[1]), n = atoi(words[2]), k = atoi(words[3]), calls = atoi(words[4]);
  double* const x = calloc((size_t)m * k + (size_t)k * n + (size_t)m * n, sizeof *x);
  double *const y = x + (size_t)m * k, *const z = y + (size_t)k * n;
  enum { kRowMajor = 101, kPlain = 111 };
  for (int i = 0; i < calls; i++) multiply(kRowMajor, kPlain, kPlain, m, n, k, 1, x, k, y, n, 0, z, n);
  return 7;
}

int main(int count, char** words) {
  if (count == 3 && !strcmp(words[1], "stream")) return stream(atoi(words[2]));
  if (count == 7 && !strcmp(words[1], "product")) return product(words + 2);
  return 2;
}
