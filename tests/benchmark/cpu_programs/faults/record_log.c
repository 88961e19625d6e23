// Writes each record of 40 bytes with a call of write(); without the fault through a stream with a buffer.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct record { int id; float values[9]; };
#ifdef FIXED
static FILE *out;
static void append(const struct record *r) { fwrite(r, sizeof *r, 1, out); }
#else
static int out;
static void append(const struct record *r) { if (write(out, r, sizeof *r) != sizeof *r) abort(); }
#endif
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3000000;
#ifdef FIXED
  out = fopen("/dev/shm/records.bin", "wb");
#else
  out = open("/dev/shm/records.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
#endif
  struct record r = {0};
  for (int i = 0; i < n; ++i) {
    r.id = i;
    for (int k = 0; k < 9; ++k) r.values[k] = r.values[k] * 0.5f + (float)(i + k);
    append(&r);
  }
#ifdef FIXED
  fclose(out);
#endif
  unlink("/dev/shm/records.bin");
  printf("%g\n", r.values[3]);
}
