// A blocked matrix product on all threads: registers hold a tile of 4 x 8.
#include <stdio.h>
#include <stdlib.h>
typedef double v4 __attribute__((vector_size(32), aligned(8)));
enum { kN = 1024, kK = 128 };
static double a[kN * kN] __attribute__((aligned(64))), b[kN * kN] __attribute__((aligned(64))),
    c[kN * kN] __attribute__((aligned(64)));
static void tile(const double* left, const double* right, double* out) {
  v4 sum[4][2] = {0};
  for (int k = 0; k < kK; ++k) {
    const v4 r0 = *(const v4*)(right + k * 8), r1 = *(const v4*)(right + k * 8 + 4);
    for (int i = 0; i < 4; ++i) {
      const double l = left[k * 4 + i];
      sum[i][0] += l * r0;
      sum[i][1] += l * r1;
    }
  }
  for (int i = 0; i < 4; ++i) {
    *(v4*)(out + i * kN) += sum[i][0];
    *(v4*)(out + i * kN + 4) += sum[i][1];
  }
}
static void product(void) {
#pragma omp parallel
  for (int k = 0; k < kN; k += kK) {
    double packed_b[kK * 64], packed_a[kK * 4];
#pragma omp for schedule(static)
    for (int jb = 0; jb < kN; jb += 64) {
      for (int j = 0; j < 64; j += 8)
        for (int p = 0; p < kK; ++p)
          for (int q = 0; q < 8; ++q) packed_b[(j / 8 * kK + p) * 8 + q] = b[(size_t)(k + p) * kN + jb + j + q];
      for (int i = 0; i < kN; i += 4) {
        for (int q = 0; q < 4; ++q)
          for (int p = 0; p < kK; ++p) packed_a[p * 4 + q] = a[(size_t)(i + q) * kN + k + p];
        for (int j = 0; j < 64; j += 8) tile(packed_a, packed_b + j * kK, c + (size_t)i * kN + jb + j);
      }
    }
  }
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 50;
  for (int i = 0; i < kN * kN; ++i) a[i] = i % 7, b[i] = i % 5;
  for (int p = 0; p < passes; ++p) product();
  printf("%g\n", c[77]);
}
