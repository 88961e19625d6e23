/* Every form of the packed fused multiply-add, in registers and with memory operands, several times in straight-line code. Prints the bits of the
   results: the emulated run must print the same. */
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

#define KERNEL __attribute__((noipa))
typedef __m256d D;
typedef __m256 F;
typedef __m128d S;

KERNEL D doubles(D a, D b, const D* c) {
  a = _mm256_fmadd_pd(a, b, *c), b = _mm256_fmsub_pd(b, a, *c), a = _mm256_fnmadd_pd(a, b, *c);
  b = _mm256_fnmsub_pd(a, *c, b), a = _mm256_fmaddsub_pd(a, b, *c), a = _mm256_fmsubadd_pd(a, a, b);
  return _mm256_fmadd_pd(a, a, _mm256_fmadd_pd(a, b, b));
}
KERNEL F floats(F a, F b, const F* c) {
  a = _mm256_fmadd_ps(a, b, *c), b = _mm256_fmsub_ps(b, a, *c), a = _mm256_fnmadd_ps(a, b, *c);
  b = _mm256_fnmsub_ps(a, *c, b), a = _mm256_fmaddsub_ps(a, b, *c), a = _mm256_fmsubadd_ps(a, a, b);
  return _mm256_fmadd_ps(a, a, _mm256_fmadd_ps(a, b, b));
}
KERNEL S halves(S a, S b, const S* c) {
  a = _mm_fmadd_pd(a, b, *c), b = _mm_fmsub_pd(b, a, *c), a = _mm_fnmadd_pd(a, b, *c);
  return _mm_fmaddsub_pd(a, b, *c);
}

static void show(const void* bytes, int count) {
  for (int i = 0; i < count; i++) printf("%02x", ((const unsigned char*)bytes)[i]);
  printf("\n");
}

int main(void) {
  unsigned state = 1;
  for (int round = 0; round < 100; round++) {
    float f[3][8];
    double d[3][4];
    for (int i = 0; i < 24; i++) f[i / 8][i % 8] = (int)((state = state * 1664525 + 1013904223) >> 8) / 16777216.f - 0.3f;
    for (int i = 0; i < 12; i++) d[i / 4][i % 4] = f[i / 8][i % 8] / 3.0;
    const D c = _mm256_loadu_pd(d[2]), x = doubles(_mm256_loadu_pd(d[0]), _mm256_loadu_pd(d[1]), &c);
    const F e = _mm256_loadu_ps(f[2]), y = floats(_mm256_loadu_ps(f[0]), _mm256_loadu_ps(f[1]), &e);
    const S g = _mm_loadu_pd(d[2]), z = halves(_mm_loadu_pd(d[0]), _mm_loadu_pd(d[1]), &g);
    show(&x, sizeof x), show(&y, sizeof y), show(&z, sizeof z);
  }
  return 7;
}
