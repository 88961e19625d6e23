// omp: the forces run on all threads, the assembly of the matrix before them does not.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { kN = 1 << 20 };
static double mass[kN], force[kN];
__attribute__((noinline)) static void assemble(int step) {
#ifdef FIXED
#pragma omp parallel for
#endif
  for (int i = 0; i < kN; ++i) {
    double s = 1;
    for (int k = 1; k < 12; ++k) s = s * 0.5 + (i ^ (k * step)) % 7;
    mass[i] = s;
  }
}
__attribute__((noinline)) static void forces(void) {
#pragma omp parallel for
  for (int i = 0; i < kN; ++i) {
    double s = mass[i];
    for (int k = 1; k < 12; ++k) s = s * 0.5 + (i ^ k) % 5;
    force[i] += s;
  }
}
int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 50;
  for (int s = 1; s <= steps; ++s) { assemble(s); forces(); }
  printf("%g\n", force[5]);
}
