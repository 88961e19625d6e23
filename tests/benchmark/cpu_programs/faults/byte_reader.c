// A checksum of a file that is read byte by byte.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static unsigned checksum(int file) {
  unsigned sum = 0;
#ifdef FIXED
  static unsigned char buffer[65536];
  for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;)
    for (ssize_t i = 0; i < got; ++i) sum = sum * 31 + buffer[i];
#else
  unsigned char byte;
  while (read(file, &byte, 1) == 1) sum = sum * 31 + byte;  // FAULT
#endif
  return sum;
}
int main(int argc, char** argv) {
  const int size = argc > 1 ? atoi(argv[1]) : 12000000;
  char* data = malloc(size);
  memset(data, 'x', size);
  int file = open("/tmp/byte_reader.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, data, size) != size) return 1;
  lseek(file, 0, SEEK_SET);
  printf("%u\n", checksum(file));
  unlink("/tmp/byte_reader.bin");
}
