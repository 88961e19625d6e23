// A 5-point stencil on all threads, in rows.
#include <stdio.h>
#include <stdlib.h>
enum { kRows = 1024, kColumns = 1024 };
static float grid[2][kRows][kColumns];
static void sweep(float (*restrict to)[kColumns], float (*restrict from)[kColumns]) {
#pragma omp parallel for schedule(static)
  for (int i = 1; i < kRows - 1; ++i)
    for (int j = 1; j < kColumns - 1; ++j)
      to[i][j] = 0.2f * (from[i][j] + from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? atoi(argv[1]) : 24000;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) grid[0][i][j] = grid[1][i][j] = (i ^ j) % 17;
  for (int p = 0; p < passes; ++p) sweep(grid[(p + 1) % 2], grid[p % 2]);
  printf("%g\n", grid[0][5][5]);
}
