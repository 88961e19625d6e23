/* An MPI program whose ranks have what its argument says: equal work, unequal work, a serial part on rank 0, a wait, many
 * small messages, or turns. Seconds of CPU time, so that other load on the machine changes little. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static volatile double sink;

__attribute__((noinline)) static void compute(double seconds) {
  const double end = cpu_seconds() + seconds;
  while (cpu_seconds() < end) {
    for (int i = 0; i < 1000; ++i) sink = sink * 0.5 + i; /* line: compute */
  }
}

__attribute__((noinline)) static void write_output(double seconds) {
  const double end = cpu_seconds() + seconds;
  while (cpu_seconds() < end) {
    for (int i = 0; i < 1000; ++i) sink = sink * 0.25 + i; /* line: write_output */
  }
}

__attribute__((noinline)) static void wait_for_file(double seconds) {
  const struct timespec time = {0, (long)(seconds * 1e9)};
  nanosleep(&time, NULL); /* line: wait_for_file */
}

static void all_reduce(void) {
  double value = 1, sum;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* line: all_reduce */
}

static void exchange(int rank, int ranks, int messages) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int i = 0; i < messages; ++i) {
    int value = i, other;
    MPI_Sendrecv(&value, 1, MPI_INT, right, 0, &other, 1, MPI_INT, left, 0, MPI_COMM_WORLD, /* line: exchange */
                 MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* const fault = argc > 1 ? argv[1] : "none";
  const int is = argc > 2 ? atoi(argv[2]) : 100; /* steps */
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 0; step < is; ++step) {
    const int unequal = strcmp(fault, "unequal") == 0 && rank == 1;
    const int turns = strcmp(fault, "turns") == 0 && step % ranks == rank;
    const int messages = strcmp(fault, "messages") == 0;
    compute(unequal || turns ? 0.03 : messages ? 0.001 : 0.01); /* so that fast messages are a good part, too */
    if (strcmp(fault, "serial") == 0 && rank == 0) write_output(0.02);
    if (strcmp(fault, "wait") == 0 && rank == 1) wait_for_file(0.04);
    if (messages) exchange(rank, ranks, 2000);
    all_reduce();
  }
  MPI_Finalize();
  return 0;
}
