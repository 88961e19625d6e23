// Work enqueued on a stream, caught as a graph instead of run.
#pragma once

#include <functional>

#include "device/cuda/handles.hpp"

namespace roofline {

/// Calls `enqueue` while `stream` is captured. An exception from it leaves the stream usable.
Graph capture(cudaStream_t stream, const std::function<void()>& enqueue);

}  // namespace roofline
