// Times a batch of launches on a GPU: the launches are captured into CUDA graphs once, and replayed between
// two events. No launch gaps, no host latency inside the interval.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "device/cuda/handles.hpp"
#include "device/cuda/stamps.hpp"
#include "device/device.hpp"

namespace roofline {

class GraphTimer final : public Timer {
 public:
  GraphTimer(cudaStream_t stream, int sm_count, LaunchFunction launch);

  Reading time(std::int64_t launches) override;

 private:
  using Span = std::pair<std::int64_t, std::int64_t>;  ///< first launch, number of launches

  cudaGraphExec_t graph(Span span);
  GraphExec capture(Span span);

  cudaStream_t stream_;
  LaunchFunction launch_;
  Event start_;
  Event stop_;
  Gate gate_;
  ClockStamps stamps_;
  std::map<Span, GraphExec> graphs_;
  std::int64_t cached_nodes_ = 0;
};

}  // namespace roofline
