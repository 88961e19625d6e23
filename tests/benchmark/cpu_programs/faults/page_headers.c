// Reads the header of each page of 4 KiB of a store of 2 GB, in random order; without the fault the headers are an array.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef FIXED
enum { kStride = 64 };
#else
enum { kStride = 4096 + 64 };
#endif
__attribute__((noinline)) static uint64_t used(const char *store, const uint32_t *order, int n, uint64_t salt) {
  uint64_t sum = 0;
  for (int i = 0; i < n; ++i) sum += *(const uint32_t *)(store + (size_t)order[i] * kStride) ^ salt;
  return sum;
}
int main(int argc, char **argv) {
  int passes = argc > 1 ? atoi(argv[1]) : 700, n = 1 << 17;
  char *store = malloc((size_t)n * kStride);
  uint32_t *order = malloc(4L * n);
  for (int i = 0; i < n; ++i) { *(uint32_t *)(store + (size_t)i * kStride) = i; order[i] = i; }
  uint64_t seed = 7;
  for (int i = n - 1; i > 0; --i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    int j = (int)((seed >> 33) % (unsigned)(i + 1));
    uint32_t t = order[i]; order[i] = order[j]; order[j] = t;
  }
  uint64_t sum = 0;
  for (int p = 0; p < passes; ++p) sum += used(store, order, n, p);
  printf("%lu\n", sum);
}
