/* Exchanges the boundary of a strip with the neighbour rank in every step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 4096, HEIGHT = 8 };

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *grid = calloc((HEIGHT + 1) * WIDTH, sizeof *grid);
    double *ghost = grid + HEIGHT * WIDTH;
    for (int i = 0; i < HEIGHT * WIDTH; i++) grid[i] = (i * 31 + rank) % 100;
    int other = 1 - rank;
    for (int step = 0; step < 600; step++) {
        double *edge = grid;
#ifdef FIXED
        MPI_Sendrecv(edge, WIDTH, MPI_DOUBLE, other, 0, ghost, WIDTH, MPI_DOUBLE, other, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
#else
        for (int x = 0; x < WIDTH; x++)
            MPI_Sendrecv(&edge[x], 1, MPI_DOUBLE, other, 0, &ghost[x], 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
#endif
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                grid[y * WIDTH + x] = 0.5 * grid[y * WIDTH + x] + 0.5 * grid[(y + 1) * WIDTH + x];
    }
    if (rank == 0) printf("%f\n", grid[17]);
    free(grid);
    MPI_Finalize();
    return 0;
}
