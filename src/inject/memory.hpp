// GPU memory from CUDA and PyTorch's caching allocator. Each allocation is recorded while everything is; otherwise only
// sums, which cost no system call, and the frees of recorded allocations.
#pragma once

#include <cstdint>

#include "inject/driver_calls.hpp"
#include "inject/session.hpp"

namespace roofline::inject {

struct ThreadState;

/// Finds caching allocators in the process. To be called again from time to time, because libraries are loaded late.
void look_for_allocators();

/// A call of CUDA that allocates or frees is entered, and left. `params`: of its callback.
void enters_memory_call(Session& session, ThreadState& thread, MemoryCall call, const void* params);
void leaves_memory_call(Session& session, ThreadState& thread, MemoryCall call, const void* params, bool succeeded);

/// What the thread has allocated since its last launch belongs to that place.
void place_allocations(Session& session, ThreadState& thread, spool::Id place);

/// Writes sums of the interval since the last time. `all`: also of short intervals. From the thread that writes.
void sample_memory(Session& session, std::uint64_t time, bool all);

}  // namespace roofline::inject
