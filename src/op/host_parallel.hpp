// A parallel loop for host work: filling inputs, computing references, comparing. Kernels never run on it; they use
// the device's pinned workers.
#pragma once

#include <cstdint>
#include <functional>

namespace roofline {

/// Threads of host_parallel: the logical CPUs on which the process was started.
int host_threads();

/// Splits [0, count) into chunks of `chunk` and runs `work(begin, end)` on each, on all host threads, in
/// any order. Rethrows the first exception once every thread has ended.
void host_parallel(std::int64_t count, std::int64_t chunk,
                   const std::function<void(std::int64_t begin, std::int64_t end)>& work);

}  // namespace roofline
