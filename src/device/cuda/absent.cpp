// Stands in for the CUDA half in a build without it: lists why there is no GPU, and opens none.
#include "device/cuda/open.hpp"
#include "device/cuda/topology.hpp"
#include "device/gpu_sensors.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr const char* kReason = "this build has no CUDA support";

}  // namespace

std::vector<DeviceListing> list_cuda_devices() {
  DeviceListing listing;
  listing.info.kind = DeviceKind::cuda;
  listing.info.name = "CUDA";
  listing.info.identity = "cuda-none";
  listing.usable = false;
  listing.reason = kReason;
  listing.problem = DeviceProblem::build_without_cuda;
  return {listing};
}

std::unique_ptr<Device> open_cuda_device(int) {
  throw DeviceError(kReason, "build with -DROOFLINE_CUDA=ON on a machine with the CUDA Toolkit, or use --device cpu");
}

std::unique_ptr<Device> open_cuda_rank(int index, std::shared_ptr<Rendezvous>) { return open_cuda_device(index); }

std::vector<KernelLaunch> cuda_launch_layout(Device&, const std::function<void()>&) { throw Error(kReason); }

void describe_cuda_topology(std::span<const int>, Node&) { throw Error(kReason); }

std::unique_ptr<CounterReader> open_cuda_counters(Device&, CounterSet) { throw Error(kReason); }

std::vector<GpuIdentity> monitored_gpus() { throw Error(kReason); }

std::unique_ptr<GpuSensors> open_gpu_sensors(const GpuAddress&, std::optional<double>) { throw Error(kReason); }

}  // namespace roofline
