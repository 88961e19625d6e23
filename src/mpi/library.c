/* Is loaded before the MPI library (LD_PRELOAD) and stands in for its functions: each is called as before, and its time
 * is recorded. Both names of a function are replaced, MPI_ and PMPI_, because bindings of Fortran call either. No header
 * of MPI is needed: arguments are passed on as they are, for Open MPI, MPICH and Intel MPI alike. */
#include <stddef.h>

#include "mpi/functions.h"
#include "mpi/recorder.h"

#define EXPORT __attribute__((visibility("default")))

#define T1 Argument
#define T2 T1, Argument
#define T3 T2, Argument
#define T4 T3, Argument
#define T5 T4, Argument
#define T6 T5, Argument
#define T7 T6, Argument
#define T8 T7, Argument
#define T9 T8, Argument
#define T10 T9, Argument
#define T12 T10, Argument, Argument
#define P1 Argument a1
#define P2 P1, Argument a2
#define P3 P2, Argument a3
#define P4 P3, Argument a4
#define P5 P4, Argument a5
#define P6 P5, Argument a6
#define P7 P6, Argument a7
#define P8 P7, Argument a8
#define P9 P8, Argument a9
#define P10 P9, Argument a10
#define P12 P10, Argument a11, Argument a12
#define V1 a1
#define V2 V1, a2
#define V3 V2, a3
#define V4 V3, a4
#define V5 V4, a5
#define V6 V5, a6
#define V7 V6, a7
#define V8 V7, a8
#define V9 V8, a9
#define V10 V9, a10
#define V12 V10, a11, a12

/* Open MPI's and MPICH's MPI_IN_PLACE: the count and type beside it have no meaning. */
static int in_place(Argument buffer) { return buffer == 1 || buffer == -1; }

#define DEFINE(prefix, profiled, name, n, communicator, messages, count, type)                              \
  EXPORT int prefix##MPI_##name(P##n);                                                                      \
  EXPORT int prefix##MPI_##name(P##n) {                                                                     \
    const struct Call call = begin_call(&function_##name, profiled, __builtin_return_address(0));           \
    const int result = ((int (*)(T##n))call.next)(V##n);                                                    \
    const int known = (messages) && !(function_##name.kind == ROOFLINE_MPI_ROOTED && in_place(a1));         \
    end_call(&call, result, communicator, known, count, type);                                              \
    return result;                                                                                          \
  }

#define BOTH(name, n, kind, communicator, messages, count, type)                        \
  static struct Function function_##name = {"MPI_" #name, {NULL, NULL}, kind};          \
  DEFINE(, 0, name, n, communicator, messages, count, type)                             \
  DEFINE(P, 1, name, n, communicator, messages, count, type)

ROOFLINE_MPI_FUNCTIONS(BOTH)

/* Functions that begin and end what is recorded: `before` and `after` are statements around the call. */
#define AROUND(prefix, profiled, name, n, before, after)                                          \
  EXPORT int prefix##MPI_##name(P##n);                                                            \
  EXPORT int prefix##MPI_##name(P##n) {                                                           \
    before;                                                                                       \
    const struct Call call = begin_call(&function_##name, profiled, __builtin_return_address(0)); \
    const int result = ((int (*)(T##n))call.next)(V##n);                                          \
    end_call(&call, result, 0, 0, 0, 0);                                                          \
    after;                                                                                        \
    return result;                                                                                \
  }
#define AROUND_BOTH(name, n, before, after)                                                     \
  static struct Function function_##name = {"MPI_" #name, {NULL, NULL}, ROOFLINE_MPI_OTHER};    \
  AROUND(, 0, name, n, before, after)                                                           \
  AROUND(P, 1, name, n, before, after)

#define NOTHING (void)0

AROUND_BOTH(Init, 2, NOTHING, start_recording())
AROUND_BOTH(Init_thread, 4, NOTHING, start_recording())
AROUND_BOTH(Comm_free, 1, forget_communicator(handle_at((const void*)a1)), NOTHING)
AROUND_BOTH(Comm_disconnect, 1, forget_communicator(handle_at((const void*)a1)), NOTHING)

#define FINALIZE(prefix, profiled)                                                                \
  EXPORT int prefix##MPI_Finalize(void);                                                          \
  EXPORT int prefix##MPI_Finalize(void) {                                                         \
    finish_recording();                                                                           \
    const struct Call call = begin_call(&function_Finalize, profiled, __builtin_return_address(0)); \
    const int result = ((int (*)(void))call.next)();                                              \
    end_call(&call, result, 0, 0, 0, 0);                                                          \
    return result;                                                                                \
  }
static struct Function function_Finalize = {"MPI_Finalize", {NULL, NULL}, ROOFLINE_MPI_OTHER};
FINALIZE(, 0)
FINALIZE(P, 1)
