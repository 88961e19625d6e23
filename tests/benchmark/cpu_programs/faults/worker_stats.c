// Four pthreads that count words in their own text; their statistics are neighbours in one array.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef FIXED
struct stats { long words, letters; char pad[112]; } __attribute__((aligned(128)));
#else
struct stats { long words, letters; };
#endif
static struct stats all[4];
static char text[1 << 16];
static int passes = 20000;
__attribute__((noinline)) static void count(const char *p, struct stats *s) {
  for (int i = 0; i < (int)sizeof text; ++i) {
    if (p[i] == ' ') ((volatile struct stats *)s)->words++;
    else ((volatile struct stats *)s)->letters++;
  }
}
static void *work(void *arg) {
  for (int p = 0; p < passes; ++p) count(text, arg);
  return NULL;
}
int main(int argc, char **argv) {
  if (argc > 1) passes = atoi(argv[1]);
  for (int i = 0; i < (int)sizeof text; ++i) text[i] = i % 6 == 5 ? ' ' : 'a';
  pthread_t t[4];
  for (int i = 0; i < 4; ++i) pthread_create(&t[i], NULL, work, &all[i]);
  for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
  printf("%ld %ld\n", all[0].words, all[3].letters);
}
