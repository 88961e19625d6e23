// Compiles the same POSIX pattern for each line; without the fault once.
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
static int is_host(const char *line) {
#ifdef FIXED
  static regex_t pattern;
  static int ready;
  if (!ready++) regcomp(&pattern, "^[a-z0-9]+\\.(example|test)\\.[a-z]{2,4}$", REG_EXTENDED | REG_NOSUB);
  return regexec(&pattern, line, 0, NULL, 0) == 0;
#else
  regex_t pattern;
  regcomp(&pattern, "^[a-z0-9]+\\.(example|test)\\.[a-z]{2,4}$", REG_EXTENDED | REG_NOSUB);
  int found = regexec(&pattern, line, 0, NULL, 0) == 0;
  regfree(&pattern);
  return found;
#endif
}
int main(int argc, char **argv) {
  int lines = argc > 1 ? atoi(argv[1]) : 250000, found = 0;
  char line[64];
  for (int i = 0; i < lines; ++i) {
    snprintf(line, sizeof line, "node%d.%s.org", i, i % 3 ? "example" : "other");
    found += is_host(line);
  }
  printf("%d\n", found);
}
