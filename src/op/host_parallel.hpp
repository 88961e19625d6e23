// A parallel loop for the host's own chores: filling inputs, computing references, comparing. Kernels
// never run on it: they have the device's pinned workers.
#pragma once

#include <cstdint>
#include <functional>

namespace roofline {

/// Threads that host_parallel uses: the logical CPUs that the process was started on.
int host_threads();

/// Splits [0, count) into chunks of `chunk` and runs `work(begin, end)` on each, on all host threads, in
/// any order. Rethrows the first exception once every thread has ended.
void host_parallel(std::int64_t count, std::int64_t chunk,
                   const std::function<void(std::int64_t begin, std::int64_t end)>& work);

}  // namespace roofline
