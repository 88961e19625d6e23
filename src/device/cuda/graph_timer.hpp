// Times a batch of launches on a GPU: the launches are captured into CUDA graphs once, and replayed between
// two events. No launch gaps, no host latency inside the interval.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "device/cuda/handles.hpp"
#include "device/cuda/stamps.hpp"
#include "device/device.hpp"

namespace roofline {

class GraphTimer final : public Timer {
 public:
  /// What is done about batches of several GPUs. Both may be empty.
  struct Together {
    /// Calls the function that captures launches, with the work before and after them.
    std::function<void(const std::function<void()>&)> around = {};
    /// Enqueues work that must end before a batch begins.
    std::function<void()> align = {};
  };

  /// A timer for a stream of that device.
  GraphTimer(int device, cudaStream_t stream, int sm_count, LaunchFunction launch, Together together);

  Reading time(std::int64_t launches) override;

 private:
  using Span = std::pair<std::int64_t, std::int64_t>;  ///< first launch, number of launches

  cudaGraphExec_t graph(Span span);
  GraphExec capture(Span span);

  int device_;
  cudaStream_t stream_;
  LaunchFunction launch_;
  Together together_;
  Event start_;
  Event stop_;
  Gate gate_;
  ClockStamps stamps_;
  std::map<Span, GraphExec> graphs_;
  std::int64_t cached_nodes_ = 0;
};

}  // namespace roofline
