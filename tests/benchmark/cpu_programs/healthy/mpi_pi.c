/* Monte Carlo estimate of pi on all ranks, reduced once. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long total = 1600000000L;
    uint64_t s = 0x9e3779b97f4a7c15ULL * (rank + 1);
    long inside = 0, all = 0;
    for (long i = 0; i < total / ranks; i++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        int64_t x = (uint32_t)s >> 1, y = (uint32_t)(s >> 32) >> 1;
        inside += x * x + y * y < (1LL << 62);
    }
    MPI_Reduce(&inside, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.8f\n", 4.0 * all / total);
    MPI_Finalize();
    return 0;
}
