// Formats the local time of every event; without the fault only when the second changes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv) {
  int events = argc > 1 ? atoi(argv[1]) : 1500000;
  char text[64], line[128];
  long length = 0;
  time_t last = 0;
  for (int i = 0; i < events; ++i) {
    time_t now = 1700000000 + i / 5000;
#ifdef FIXED
    if (now != last)
#endif
    {
      struct tm *parts = localtime(&now);
      strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", parts);
    }
    last = now;
    memcpy(line, text, 19);
    line[19] = (char)('a' + i % 26);
    length += line[19];
  }
  printf("%ld %s\n", length, text);
}
