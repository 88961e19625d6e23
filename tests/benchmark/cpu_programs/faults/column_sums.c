// Column sums of a row-major image, column by column.
#include <stdio.h>
#include <stdlib.h>
enum { kRows = 3000, kColumns = 5000 };
static void column_sums(const float* image, float* sums) {
#ifdef FIXED
  for (int c = 0; c < kColumns; ++c) sums[c] = 0;
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) sums[c] += image[(size_t)r * kColumns + c];
#else
  for (int c = 0; c < kColumns; ++c) {
    float sum = 0;
    for (int r = 0; r < kRows; ++r) sum += image[(size_t)r * kColumns + c];  // FAULT
    sums[c] = sum;
  }
#endif
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 160;
  float* image = malloc(sizeof(float) * kRows * kColumns);
  float* sums = malloc(sizeof(float) * kColumns);
  for (size_t i = 0; i < (size_t)kRows * kColumns; ++i) image[i] = (float)(i % 255);
  double total = 0;
  for (int p = 0; p < passes; ++p) {
    image[p] += 1;
    column_sums(image, sums);
    total += sums[p % kColumns];
  }
  printf("%g\n", total);
}
