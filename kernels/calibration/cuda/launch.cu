// Launch floors of a GPU: empty kernels as graph nodes, launched individually into a stream, and as graphs of one
// kernel each. An empty kernel computes nothing, so the checks are that launches report no error and that a counting
// kernel of the same shape runs once per launch.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/handles.hpp"
#include "host/host.hpp"
#include "kernels/calibration/cuda/probe.cuh"
#include "measure/statistics.hpp"
#include "op/registry.hpp"

namespace roofline::launch_cuda {
namespace {

__global__ void empty_kernel() {}

__global__ void count_kernel(unsigned* launches) {
  if (threadIdx.x == 0) ++*launches;  // launches of one stream never overlap
}

/// Enqueues one launch.
using Launch = std::function<void()>;

/// A graph of one kernel.
GraphExec graph_of(cudaStream_t stream, const Launch& launch) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a graph capture");
  launch();
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(stream, &captured), "ending a graph capture");
  const Graph graph(captured);
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph.get(), 0), "instantiating a graph");
  return GraphExec(exec);
}

Launch graph_launch(cudaStream_t stream, const Launch& kernel) {
  return [stream, exec = std::make_shared<GraphExec>(graph_of(stream, kernel))] {
    check(cudaGraphLaunch(exec->get(), stream), "launching a graph");
  };
}

Launch plain(cudaStream_t, const Launch& kernel) { return kernel; }

/// A launch path: wraps the launch of a kernel.
using Path = Launch (*)(cudaStream_t stream, const Launch& kernel);

/// Launches a counting kernel `kWanted` times on the same path, and reads the count.
std::optional<std::string> verify_launches(CudaDevice& device, Path path) {
  constexpr unsigned kWanted = 100;
  const auto counter = device.allocate(sizeof(unsigned));
  device.fill(counter->data(), std::byte{0}, counter->size());
  const Launch launch = path(device.stream(), [&] {
    count_kernel<<<1, 32, 0, device.stream()>>>(static_cast<unsigned*>(counter->data()));
    check_launch("counting kernel");
  });
  for (unsigned i = 0; i < kWanted; ++i) launch();
  unsigned launches = 0;
  device.download(&launches, counter->data(), sizeof launches);
  if (launches == kWanted) return std::nullopt;
  return fmt::format("{} of {} launches ran", launches, kWanted);
}

/// Rate of individual launches. An H200 has run an empty kernel before the host launches the next one, so the host
/// is the limit, and the host's clock can resolve single launches: their median excludes those that an interrupt or
/// another program delayed. Means over 1000 launches scatter three times as much.
class HostPacedTimer {
 public:
  HostPacedTimer(cudaStream_t stream, Launch launch) : stream_(stream), launch_(std::move(launch)) {}

  Reading time(std::int64_t launches) const {
    const auto count = static_cast<std::size_t>(std::max(launches, kLeast));
    std::vector<double> marks(count + 1);
    check(cudaStreamSynchronize(stream_), "preparing a timed batch");
    launch_();  // the first launch after idle time wakes the GPU
    check(cudaEventRecord(start_.get(), stream_), "recording the start");
    marks[0] = wall_seconds();
    for (std::size_t i = 1; i <= count; ++i) {
      launch_();
      marks[i] = wall_seconds();
    }
    check(cudaEventRecord(stop_.get(), stream_), "recording the stop");
    check(cudaEventSynchronize(stop_.get()), "waiting for a timed batch");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()), "reading the time of a batch");
    const double by_gpu = static_cast<double>(milliseconds) * 1e-3 / static_cast<double>(count);
    const double by_host = median_step(marks);
    // If the GPU is slower, the host fills its queue at any rate, and the GPU is the limit.
    const double seconds_per_launch = by_gpu > 1.5 * by_host ? by_gpu : by_host;
    return {.seconds = seconds_per_launch * static_cast<double>(launches), .clock_hz = std::nullopt};
  }

 private:
  static double median_step(const std::vector<double>& marks) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < marks.size(); ++i) steps.push_back(marks[i] - marks[i - 1]);
    return upper_median(std::move(steps));
  }

  static constexpr std::int64_t kLeast = 1024;  // as many as a stream's queue holds
  cudaStream_t stream_;
  Launch launch_;
  Event start_ = make_event();
  Event stop_ = make_event();
};

ProbeCase launch_case(CudaDevice& device, const char* variant, Path path) {
  ProbeCase made;
  made.variant = variant;
  made.amount = 1;
  made.run = [stream = device.stream()] {
    empty_kernel<<<1, 32, 0, stream>>>();
    check_launch("empty kernel");
  };
  made.verify = [&device, path] { return verify_launches(device, path); };
  return made;
}

ProbeCase host_paced_case(CudaDevice& device, const char* variant, Path path) {
  ProbeCase made = launch_case(device, variant, path);
  const auto timer = std::make_shared<HostPacedTimer>(device.stream(), path(device.stream(), made.run));
  made.batch = [timer](std::int64_t launches) { return timer->time(launches); };
  return made;
}

using Make = ProbeCase (*)(CudaDevice&);

Probe launch_probe(const char* name, Role role, Make make) {
  Probe probe;
  probe.name = name;
  probe.device = DeviceKind::cuda;
  probe.kind = CeilingKind::overhead;
  probe.role = role;
  probe.scalable = false;  // the work cannot be scaled
  probe.make = [make](Device& device, const ProbeRequest&, int variant) -> std::optional<ProbeCase> {
    if (variant > 0) return std::nullopt;
    return make(as_cuda(device));
  };
  return probe;
}

const ProbeRegistrar kRegistrar(
    {launch_probe("launch.graph", Role::roof,
                  [](CudaDevice& device) { return launch_case(device, "empty kernels as CUDA graph nodes", plain); }),
     launch_probe("launch.stream", Role::roof,
                  [](CudaDevice& device) {
                    return host_paced_case(device, "empty kernels, launched individually", plain);
                  }),
     launch_probe("launch.graph.single", Role::reference, [](CudaDevice& device) {
       return host_paced_case(device, "single-kernel CUDA graphs, launched individually", graph_launch);
     })});

}  // namespace
}  // namespace roofline::launch_cuda
