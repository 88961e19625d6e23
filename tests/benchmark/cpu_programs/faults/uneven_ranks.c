/* Energies of a triangular matrix of pairs, rows split over the ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

static double energy(int i, int j) { return 1.0 / sqrt(1.0 + (double)(i - j) * (i - j) * 0.25); }

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int rows = 12000;
    double total = 0;
    for (int step = 0; step < 14; step++) {
        double sum = 0, all = 0;
#ifdef FIXED
        for (int i = rank; i < rows; i += ranks)
#else
        int first = (long)rows * rank / ranks, last = (long)rows * (rank + 1) / ranks;
        for (int i = first; i < last; i++)
#endif
            for (int j = 0; j < i; j++) sum += energy(i, j + step);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        total += all;
    }
    if (rank == 0) printf("%.6f\n", total);
    MPI_Finalize();
    return 0;
}
