// Maps a fresh anonymous buffer for each chunk; without the fault one buffer for all.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { kBytes = 8 << 20 };
static long process(unsigned char *buffer, int chunk) {
  long sum = 0;
  for (int i = 0; i < kBytes; i += 64) buffer[i] = (unsigned char)(i + chunk);
  for (int i = 0; i < kBytes; i += 64) sum += buffer[i];
  return sum;
}
int main(int argc, char **argv) {
  int chunks = argc > 1 ? atoi(argv[1]) : 700;
  long sum = 0;
  unsigned char *buffer = NULL;
  for (int c = 0; c < chunks; ++c) {
#ifdef FIXED
    if (!buffer)
#endif
      buffer = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sum += process(buffer, c);
#ifndef FIXED
    munmap(buffer, kBytes);
#endif
  }
  printf("%ld\n", sum);
}
