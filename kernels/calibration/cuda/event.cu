// Resolution of a pair of events: the smallest difference between two measured times.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/calibration/cuda/probe.cuh"
#include "op/registry.hpp"

namespace roofline::event_cuda {
namespace {

/// Duration grows slightly with every loop, so that many different times occur.
__global__ void linger_kernel(int loops, unsigned* out) {
  unsigned x = threadIdx.x;
  for (int i = 0; i < loops; ++i) x = x * 1664525u + 1013904223u;
  if (x == 1) *out = x;
}

class EventSteps {
 public:
  explicit EventSteps(CudaDevice& device) : stream_(device.stream()), out_(device.allocate(sizeof(unsigned))) {
    for (int i = 0; i < kPairs; ++i) marks_.push_back({make_event(), make_event()});
  }

  /// The smallest difference between two of the times of kPairs pairs, in seconds.
  double smallest() const {
    for (int i = 0; i < kPairs; ++i) {
      check(cudaEventRecord(marks_[static_cast<std::size_t>(i)].first.get(), stream_), "recording an event");
      linger_kernel<<<1, 1, 0, stream_>>>(8 * i, static_cast<unsigned*>(out_->data()));
      check_launch("spinning kernel");
      check(cudaEventRecord(marks_[static_cast<std::size_t>(i)].second.get(), stream_), "recording an event");
    }
    check(cudaStreamSynchronize(stream_), "waiting for events");
    std::vector<double> nanoseconds;
    for (const auto& [before, after] : marks_) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, before.get(), after.get()), "reading the time between events");
      nanoseconds.push_back(static_cast<double>(milliseconds) * 1e6);
    }
    std::sort(nanoseconds.begin(), nanoseconds.end());
    double smallest = nanoseconds.back();
    for (std::size_t i = 1; i < nanoseconds.size(); ++i) {
      const double step = nanoseconds[i] - nanoseconds[i - 1];
      if (step >= kRoundingNs) smallest = std::min(smallest, step);
    }
    return smallest * 1e-9;
  }

 private:
  static constexpr int kPairs = 256;
  // Times are floats in milliseconds: 20 us is exact to 0.002 ns, so smaller differences are rounding.
  static constexpr double kRoundingNs = 0.1;
  cudaStream_t stream_;
  std::unique_ptr<Buffer> out_;
  std::vector<std::pair<Event, Event>> marks_;
};

std::optional<ProbeCase> make(Device& device, const ProbeRequest&, int variant) {
  if (variant > 0) return std::nullopt;
  const auto steps = std::make_shared<EventSteps>(as_cuda(device));
  ProbeCase made;
  made.variant = "smallest difference between 256 event pairs";
  made.amount = 1;
  made.run = [steps] { static_cast<void>(steps->smallest()); };
  made.batch = [steps](std::int64_t launches) {
    return Reading{.seconds = steps->smallest() * static_cast<double>(launches), .clock_hz = std::nullopt};
  };
  return made;
}

Probe event_probe() {
  Probe probe;
  probe.name = "event.resolution";
  probe.device = DeviceKind::cuda;
  probe.kind = CeilingKind::overhead;
  probe.role = Role::reference;
  probe.scalable = false;  // the timer itself is measured
  probe.make = make;
  return probe;
}

const ProbeRegistrar kRegistrar({event_probe()});

}  // namespace
}  // namespace roofline::event_cuda
