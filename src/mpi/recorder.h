/* Times of MPI calls, summed by function and place. Of one process. */
#ifndef ROOFLINE_MPI_RECORDER_H
#define ROOFLINE_MPI_RECORDER_H

#include <stdint.h>

#include "mpi/calls.h"

/* An argument of MPI's functions as a register has it: handles are int in MPICH and pointers in Open MPI. Arguments are
 * passed on as they are, whatever their type. */
typedef intptr_t Argument;

/* A function of MPI, by both of its names. */
struct Function {
  const char* name;     /* "MPI_Barrier" */
  void* next[2];        /* of the MPI library (or of another tool): MPI_Barrier, PMPI_Barrier; null until it is called */
  uint32_t kind;        /* enum RooflineMpiKind */
};

/* A call in progress. */
struct Call {
  struct Function* function;
  void* next;
  void* from;     /* its return address */
  uint64_t start; /* 0: it is not recorded, because it is within another one */
};

struct Call begin_call(struct Function* function, int profiled, void* from);
/* `messages`: 1 where it moves `count` elements of `type` (a handle), else 0. */
void end_call(const struct Call* call, int result, Argument communicator, int messages, Argument count, Argument type);

/* After MPI_Init has returned, and before MPI_Finalize. */
void start_recording(void);
void finish_recording(void);
/* Its handle may be another communicator's from now on. */
void forget_communicator(Argument communicator);

/* The value of a handle that MPI writes to `where`. */
Argument handle_at(const void* where);

#endif
