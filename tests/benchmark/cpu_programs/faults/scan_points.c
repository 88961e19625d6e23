// Reads points from a long text with sscanf, which looks for the text's end every time; without the fault with strtod.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *read_point(const char *at, double *x, double *y) {
#ifdef FIXED
  char *end;
  *x = strtod(at, &end);
  *y = strtod(end, &end);
  return end + 1;
#else
  int used = 0;
  if (sscanf(at, "%lf %lf%n", x, y, &used) != 2) exit(1);
  return at + used + 1;
#endif
}
int main(int argc, char **argv) {
  int points = argc > 1 ? atoi(argv[1]) : 150000;
  char *text = malloc(32L * points + 1), *end = text;
  for (int i = 0; i < points; ++i) end += sprintf(end, "%d.25 %d.5\n", i % 977, i % 643);
  double x, y, sum = 0;
  for (const char *at = text; at < end;) {
    at = read_point(at, &x, &y);
    sum += x * y;
  }
  printf("%.1f\n", sum);
}
