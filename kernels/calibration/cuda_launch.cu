// The launch floors of a GPU: empty kernels, one after another, as nodes of a graph and as single launches
// into a stream. An empty kernel computes nothing, so what is verified is that launches report no error and
// that a kernel of the same shape runs once for every launch.
#include <fmt/format.h>

#include "device/cuda/check.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/calibration/cuda_probe.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

__global__ void empty_kernel() {}

__global__ void count_kernel(unsigned* launches) {
  if (threadIdx.x == 0) ++*launches;  // launches of one stream never overlap
}

/// Launches a kernel that counts, `wanted` times in the same way, and reads the count.
std::optional<std::string> verify_launches(CudaDevice& device) {
  constexpr unsigned kWanted = 100;
  const auto counter = device.allocate(sizeof(unsigned));
  device.fill(counter->data(), std::byte{0}, counter->size());
  for (unsigned i = 0; i < kWanted; ++i) {
    count_kernel<<<1, 32, 0, device.stream()>>>(static_cast<unsigned*>(counter->data()));
    check_launch("counting kernel");
  }
  unsigned launches = 0;
  device.download(&launches, counter->data(), sizeof launches);
  if (launches == kWanted) return std::nullopt;
  return fmt::format("{} of {} launches ran", launches, kWanted);
}

ProbeCase launch_case(CudaDevice& device, const char* variant) {
  ProbeCase made;
  made.variant = variant;
  made.amount = 1;
  made.run = [stream = device.stream()] {
    empty_kernel<<<1, 32, 0, stream>>>();
    check_launch("empty kernel");
  };
  made.verify = [&device] { return verify_launches(device); };
  return made;
}

/// The time of `launches` single launches. The host is not ahead of the GPU, so its pace is what is measured:
/// that is the floor of a program that launches kernel by kernel.
struct StreamBatch {
  Event start = make_event();
  Event stop = make_event();

  Reading time(cudaStream_t stream, std::int64_t launches) const {
    check(cudaStreamSynchronize(stream), "preparing a timed batch");
    check(cudaEventRecord(start.get(), stream), "recording the start");
    for (std::int64_t i = 0; i < launches; ++i) empty_kernel<<<1, 32, 0, stream>>>();
    check_launch("empty kernel");
    check(cudaEventRecord(stop.get(), stream), "recording the stop");
    check(cudaEventSynchronize(stop.get()), "waiting for a timed batch");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "reading the time of a batch");
    return {.seconds = static_cast<double>(milliseconds) * 1e-3, .clock_hz = std::nullopt};
  }
};

std::optional<ProbeCase> make_graph(Device& device, const ProbeRequest&, int variant) {
  if (variant > 0) return std::nullopt;
  return launch_case(as_cuda(device), "empty kernels as nodes of a CUDA graph");
}

std::optional<ProbeCase> make_stream(Device& device, const ProbeRequest&, int variant) {
  if (variant > 0) return std::nullopt;
  CudaDevice& cuda = as_cuda(device);
  ProbeCase made = launch_case(cuda, "empty kernels launched one by one");
  made.batch = [batch = std::make_shared<StreamBatch>(), stream = cuda.stream()](std::int64_t launches) {
    return batch->time(stream, launches);
  };
  return made;
}

Probe launch_probe(const char* name, decltype(Probe::make) make) {
  Probe probe;
  probe.name = name;
  probe.device = DeviceKind::cuda;
  probe.kind = CeilingKind::overhead;
  probe.scalable = false;  // a launch is a launch
  probe.make = std::move(make);
  return probe;
}

const ProbeRegistrar kRegistrar({launch_probe("launch.graph", make_graph), launch_probe("launch.stream", make_stream)});

}  // namespace
}  // namespace roofline
