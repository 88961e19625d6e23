// Appends to a long string with strcat, which looks for its end every time; without the fault the end is kept.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  int terms = argc > 1 ? atoi(argv[1]) : 300000;
  char *query = malloc(16L * terms + 16), *end = query, term[32];
  query[0] = 0;
  for (int i = 0; i < terms; ++i) {
    snprintf(term, sizeof term, "&k%d=%d", i % 100, i % 7);
#ifdef FIXED
    end = stpcpy(end, term);
#else
    strcat(query, term);
#endif
  }
  printf("%zu %d\n", strlen(query), end == query);
}
