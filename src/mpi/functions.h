/* The functions that are recorded: F(name, arguments, kind, communicator, messages, count, type). `count` and `type` are the
 * arguments that say how much a call moves; those of rooted collectives may be without meaning where a buffer is
 * MPI_IN_PLACE, which is checked. */
#ifndef ROOFLINE_MPI_FUNCTIONS_H
#define ROOFLINE_MPI_FUNCTIONS_H

#define ROOFLINE_MPI_FUNCTIONS(F) \
  F(Barrier, 1, ROOFLINE_MPI_COLLECTIVE, a1, 0, 0, 0) \
  F(Bcast, 5, ROOFLINE_MPI_ROOTED, a5, 1, a2, a3) \
  F(Reduce, 7, ROOFLINE_MPI_ROOTED, a7, 1, a3, a4) \
  F(Allreduce, 6, ROOFLINE_MPI_COLLECTIVE, a6, 1, a3, a4) \
  F(Gather, 8, ROOFLINE_MPI_ROOTED, a8, 1, a2, a3) \
  F(Gatherv, 9, ROOFLINE_MPI_ROOTED, a9, 0, 0, 0) \
  F(Scatter, 8, ROOFLINE_MPI_ROOTED, a8, 1, a5, a6) \
  F(Scatterv, 9, ROOFLINE_MPI_ROOTED, a9, 0, 0, 0) \
  F(Allgather, 7, ROOFLINE_MPI_COLLECTIVE, a7, 1, a5, a6) \
  F(Allgatherv, 8, ROOFLINE_MPI_COLLECTIVE, a8, 0, 0, 0) \
  F(Alltoall, 7, ROOFLINE_MPI_COLLECTIVE, a7, 1, a5, a6) \
  F(Alltoallv, 9, ROOFLINE_MPI_COLLECTIVE, a9, 0, 0, 0) \
  F(Alltoallw, 9, ROOFLINE_MPI_COLLECTIVE, a9, 0, 0, 0) \
  F(Reduce_scatter, 6, ROOFLINE_MPI_COLLECTIVE, a6, 0, 0, 0) \
  F(Reduce_scatter_block, 6, ROOFLINE_MPI_COLLECTIVE, a6, 1, a3, a4) \
  F(Scan, 6, ROOFLINE_MPI_ROOTED, a6, 1, a3, a4) \
  F(Exscan, 6, ROOFLINE_MPI_ROOTED, a6, 1, a3, a4) \
  F(Send, 6, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Ssend, 6, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Bsend, 6, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Rsend, 6, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Isend, 7, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Issend, 7, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Irsend, 7, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Ibsend, 7, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Recv, 7, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Irecv, 7, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Sendrecv, 12, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Sendrecv_replace, 9, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Wait, 2, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Waitall, 3, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Waitany, 4, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Waitsome, 5, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Test, 3, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Testall, 4, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Testany, 5, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Testsome, 5, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Probe, 4, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Iprobe, 5, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Mprobe, 5, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Ibarrier, 2, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Ibcast, 6, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Iallreduce, 7, ROOFLINE_MPI_OTHER, 0, 1, a3, a4) \
  F(Ireduce, 8, ROOFLINE_MPI_OTHER, 0, 1, a3, a4) \
  F(Iallgather, 8, ROOFLINE_MPI_OTHER, 0, 1, a5, a6) \
  F(Ialltoall, 8, ROOFLINE_MPI_OTHER, 0, 1, a5, a6) \
  F(Ialltoallv, 10, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Neighbor_allgather, 7, ROOFLINE_MPI_OTHER, 0, 1, a5, a6) \
  F(Neighbor_alltoall, 7, ROOFLINE_MPI_OTHER, 0, 1, a5, a6) \
  F(Neighbor_alltoallv, 9, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Neighbor_alltoallw, 9, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Start, 1, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Startall, 2, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Win_fence, 2, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Win_lock, 4, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Win_unlock, 2, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Win_flush, 2, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Win_wait, 1, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Win_complete, 1, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Put, 8, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Get, 8, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(Accumulate, 9, ROOFLINE_MPI_OTHER, 0, 1, a2, a3) \
  F(File_open, 5, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(File_read_all, 5, ROOFLINE_MPI_OTHER, 0, 1, a3, a4) \
  F(File_write_all, 5, ROOFLINE_MPI_OTHER, 0, 1, a3, a4) \
  F(File_read_at_all, 6, ROOFLINE_MPI_OTHER, 0, 1, a4, a5) \
  F(File_write_at_all, 6, ROOFLINE_MPI_OTHER, 0, 1, a4, a5) \
  F(Comm_dup, 2, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Comm_split, 4, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Comm_create, 3, ROOFLINE_MPI_OTHER, 0, 0, 0, 0) \
  F(Cart_create, 6, ROOFLINE_MPI_OTHER, 0, 0, 0, 0)

#endif
