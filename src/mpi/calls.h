/* The file in which the library records the MPI calls of one process. It is a mapping of fixed size (sparse: its disk space
 * is that of what was recorded), so that it is whole however the process ends. */
#ifndef ROOFLINE_MPI_CALLS_H
#define ROOFLINE_MPI_CALLS_H

#include <stdint.h>

#define ROOFLINE_MPI_MAGIC "roofmpi1"
#define ROOFLINE_MPI_EXTENSION ".mpi"
/* Folder of the files: the library does nothing without it. */
#define ROOFLINE_MPI_FOLDER "ROOFLINE_MPI_FOLDER"

enum {
  ROOFLINE_MPI_SITES = 1024,
  ROOFLINE_MPI_MODULES = 64,
  ROOFLINE_MPI_COLLECTIVES = 16384,
  ROOFLINE_MPI_PATH = 512,
  ROOFLINE_MPI_NAME = 40,
  ROOFLINE_MPI_SMALL = 4096 /* bytes of a small message, at most */
};

/* What a function does with its time. */
enum RooflineMpiKind {
  ROOFLINE_MPI_OTHER = 0,      /* point-to-point, waits, tests, one-sided */
  ROOFLINE_MPI_COLLECTIVE = 1, /* returns when the last rank has called it */
  ROOFLINE_MPI_ROOTED = 2      /* some ranks may return before others have called it */
};

/* All calls of one function at one place of the program. */
struct RooflineMpiSite {
  uint64_t address; /* within its module, as linked, of the instruction after the call */
  uint64_t calls;
  uint64_t messages; /* calls that send or receive data */
  uint64_t small;    /* of those, of at most ROOFLINE_MPI_SMALL bytes */
  uint64_t bytes;
  uint64_t ns; /* in the call, of the thread that initialised MPI */
  uint32_t module;
  uint32_t kind;                    /* enum RooflineMpiKind */
  char function[ROOFLINE_MPI_NAME]; /* "MPI_Allreduce" */
};

/* One blocking collective. Those whose number is no multiple of `stride` were dropped, on all ranks alike. */
struct RooflineMpiCollective {
  uint64_t communicator; /* the same on all of its ranks */
  uint64_t number;       /* of the communicator's blocking collectives, from 0 */
  uint64_t start;        /* ns of CLOCK_MONOTONIC */
  uint64_t ns;
  uint32_t site;
  uint32_t ranks; /* of the communicator */
};

struct RooflineMpiCalls {
  char magic[8];
  uint64_t bytes; /* of this structure */
  int32_t pid, rank, ranks, local_rank;
  char host[64];
  char launcher[16]; /* "Open MPI" */
  uint64_t start; /* ns of CLOCK_MONOTONIC: MPI_Init has returned */
  uint64_t end;   /* MPI_Finalize was called; until then the end of the latest call */
  uint64_t ns;    /* in MPI between both, of the thread that initialised it */
  uint64_t calls, lost; /* lost: for want of a place for another site */
  uint32_t finalized;
  uint32_t stride;
  uint32_t sites, modules, collectives;
  uint32_t unused;
  char module[ROOFLINE_MPI_MODULES][ROOFLINE_MPI_PATH];
  struct RooflineMpiSite site[ROOFLINE_MPI_SITES];
  struct RooflineMpiCollective collective[ROOFLINE_MPI_COLLECTIVES];
};

#endif
