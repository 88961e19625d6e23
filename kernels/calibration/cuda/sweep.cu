// Read bandwidth over working-set size, from 16 KiB to 4 GiB by factors of sqrt(2), by one kernel. Every SM has one
// block, which reads the whole set from its own start offset, so that past L2 no block hits lines that another has
// just loaded; a launch reads 4 GiB for every set.
//
// On an H200 the curve shows L1 up to 192 KiB, L2 up to its 60 MiB, HBM from 128 MiB on, with slopes in between,
// because a set slightly larger than a cache still hits in part of it. L2 itself drops from 12 to 9.2 TB/s as the
// set grows: requests of several SMs for one line are merged on their way to L2 (cache.cu).
#include <fmt/core.h>

#include <cmath>

#include "device/cuda/check.hpp"
#include "device/cuda/throughput.hpp"
#include "kernels/calibration/cuda/walk.cuh"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline::sweep_cuda {
namespace {

constexpr double kFirst = 16384;
constexpr int kSteps = 37;
// 512 x 4 x 16 B are 32 KiB in flight per SM: the latency-bandwidth product of HBM. Twice as much is 2 % faster
// there, and lets half as many more requests merge before L2.
constexpr int kThreads = 512;
constexpr int kInFlight = 4;
constexpr std::int64_t kBytes = std::int64_t{4} << 30;  // a launch
constexpr std::int64_t kGrain = 512;                    // of a set: what a warp reads at once

std::int64_t bytes_at(int step) {
  return std::llround(kFirst * std::pow(2.0, 0.5 * step) / static_cast<double>(kGrain)) * kGrain;
}

/// Each point has its own memory: allocating and filling all of it takes 0.1 s on an H200, and nothing must be kept
/// between points.
std::optional<ProbeCase> make_point(Device& device, const ProbeRequest&, int step) {
  CudaDevice& cuda = as_cuda(device);
  const std::int64_t bytes = bytes_at(step);
  if (step >= kSteps || static_cast<double>(bytes) > cuda.free_memory_bytes() / 2) return std::nullopt;
  const std::shared_ptr<Buffer> set = shared_buffer(device, bytes);
  fill_random<float>(cuda, set->data(), bytes / 4, 1);
  const auto l1 = l1_bytes(cuda.properties().major, cuda.properties().minor);
  // L1 reads 4 GiB in 0.13 ms, of which starting and ending the kernel would be 2 %.
  const std::int64_t wanted = l1 && static_cast<double>(bytes) <= *l1 ? 4 * kBytes : kBytes;
  ProbeCase made = walk_case<From::any, kThreads, kInFlight, 1>(cuda, set, bytes, 1, wanted, 1);
  made.variant =
      fmt::format("{} x 16 B in flight, 1 block of {} per SM, each with its own start offset", kInFlight, kThreads);
  made.x = static_cast<double>(bytes);
  return made;
}

Probe sweep_probe() {
  Probe probe = bandwidth_probe(DeviceKind::cuda, "sweep.read", std::nullopt, Pattern::read);
  probe.role = Role::reference;
  probe.sweep = SweepAxis::working_set;
  probe.scalable = false;
  probe.make = make_point;
  return probe;
}

const ProbeRegistrar kRegistrar({sweep_probe()});

}  // namespace
}  // namespace roofline::sweep_cuda
