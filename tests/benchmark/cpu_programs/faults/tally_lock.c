// Four pthreads that take one mutex for every word that they count; without the fault each has its own table.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long table[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int words = 60000000;
static void *tally(void *arg) {
  unsigned seed = (unsigned)(size_t)arg;
  long *own = calloc(1024, sizeof *own);
  for (int i = 0; i < words; ++i) {
    seed = seed * 1664525u + 1013904223u;
#ifdef FIXED
    own[seed >> 22]++;
#else
    pthread_mutex_lock(&lock);
    table[seed >> 22]++;
    pthread_mutex_unlock(&lock);
#endif
  }
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 1024; ++i) table[i] += own[i];
  pthread_mutex_unlock(&lock);
  free(own);
  return NULL;
}
int main(int argc, char **argv) {
  if (argc > 1) words = atoi(argv[1]);
  pthread_t t[4];
  for (size_t i = 0; i < 4; ++i) pthread_create(&t[i], NULL, tally, (void *)(i + 1));
  for (int i = 0; i < 4; ++i) pthread_join(t[i], NULL);
  printf("%ld\n", table[3]);
}
