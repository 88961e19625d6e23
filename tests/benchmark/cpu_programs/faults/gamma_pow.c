// Squares and a fixed power by pow() for each pixel.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { kPixels = 1 << 20 };
static double pixel[kPixels], out[kPixels];
static void contrast(double exponent) {
  for (int i = 0; i < kPixels; ++i) {
#ifdef FIXED
    out[i] = pixel[i] * pixel[i] * pixel[i] + exponent;
#else
    out[i] = pow(pixel[i], exponent) + exponent;  // FAULT
#endif
  }
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 320;
  for (int i = 0; i < kPixels; ++i) pixel[i] = i / (double)kPixels;
  double sum = 0;
  for (int p = 0; p < passes; ++p) {
    contrast(3);
    sum += out[p * 1000 % kPixels];
  }
  printf("%g\n", sum);
}
