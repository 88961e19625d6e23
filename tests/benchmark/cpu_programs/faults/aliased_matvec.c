// A matrix times a vector; each sum is kept in the output, which may overlap the inputs.
#include <stdio.h>
#include <stdlib.h>
enum { kRows = 256, kColumns = 512 };
static void multiply(const float* matrix, const float* x, float* y) {
  for (int i = 0; i < kRows; ++i) {
#ifdef FIXED
    float sum = 0;
    for (int j = 0; j < kColumns; ++j) sum += matrix[i * kColumns + j] * x[j];
    y[i] = sum;
#else
    y[i] = 0;
    for (int j = 0; j < kColumns; ++j) y[i] += matrix[i * kColumns + j] * x[j];  // FAULT
#endif
  }
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 25000;
  float* matrix = malloc(sizeof(float) * kRows * kColumns);
  float* x = malloc(sizeof(float) * kColumns);
  float* y = malloc(sizeof(float) * kRows);
  for (int i = 0; i < kRows * kColumns; ++i) matrix[i] = i % 13;
  for (int i = 0; i < kColumns; ++i) x[i] = i % 3;
  double total = 0;
  for (int p = 0; p < passes; ++p) {
    x[p % kColumns] += 1;
    multiply(matrix, x, y);
    total += y[p % kRows];
  }
  printf("%g\n", total);
}
