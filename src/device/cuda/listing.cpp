// Which GPUs there are, and for each that can't be used, why.
#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>
#include <string>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/open.hpp"
#include "device/cuda/topology.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// Why a GPU, or CUDA as a whole, can't be used, and what to do.
struct Obstacle {
  std::string reason;
  std::string hint;
  DeviceProblem problem = DeviceProblem::other;
};

bool library_exists(const char* name) {
  void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

/// The number of visible GPUs, or the reason why there are none.
std::optional<Obstacle> find_devices(int& count) {
  count = 0;
  if (!library_exists("libcuda.so.1")) {
    return Obstacle{"no NVIDIA driver: libcuda.so.1 not found",
                    "install the NVIDIA driver, or use --device cpu (a container needs --gpus all)",
                    DeviceProblem::no_driver};
  }
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return std::nullopt;
  static_cast<void>(cudaGetLastError());
  count = 0;
  if (status == cudaSuccess || status == cudaErrorNoDevice) {
    return Obstacle{"the NVIDIA driver shows no GPU", "check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"};
  }
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    return Obstacle{fmt::format("the NVIDIA driver supports CUDA {}.{}, and this build needs {}.{}", driver / 1000,
                                driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10),
                    "update the driver, or build with an older CUDA Toolkit"};
  }
  return Obstacle{fmt::format("CUDA does not start: {} ({})", cudaGetErrorString(status), cudaGetErrorName(status)),
                  "check nvidia-smi, or use --device cpu"};
}

std::optional<Obstacle> obstacle_of(const CudaProperties& properties) {
  if (properties.major < 8) {
    return Obstacle{fmt::format("compute capability {}.{}: this build needs 8.0 (Ampere) or newer", properties.major,
                                properties.minor),
                    "use --device cpu, or a newer GPU"};
  }
  int mode = cudaComputeModeDefault;
  check(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, properties.index), "reading the compute mode");
  if (mode == cudaComputeModeProhibited) {
    return Obstacle{"its compute mode is 'prohibited'", "its administrator can allow it with: nvidia-smi -c DEFAULT"};
  }
  return std::nullopt;
}

DeviceListing unusable(const Obstacle& obstacle, DeviceInfo info) {
  return {.info = std::move(info),
          .usable = false,
          .reason = obstacle.reason + "; " + obstacle.hint,
          .problem = obstacle.problem};
}

DeviceInfo nameless(int index) {
  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  info.index = index;
  info.name = "CUDA";
  info.identity = "cuda-none";
  return info;
}

DeviceListing list_one(int index) {
  try {
    const CudaProperties properties = cuda_properties(index);
    const auto nvml = Nvml::open(pci_address(index));
    DeviceInfo info = describe_cuda_device(properties, nvml.get());
    if (const auto obstacle = obstacle_of(properties)) return unusable(*obstacle, std::move(info));
    return {.info = std::move(info), .usable = true, .reason = {}};
  } catch (const Error& error) {
    return unusable({error.what(), error.hint()}, nameless(index));
  }
}

}  // namespace

std::vector<DeviceListing> list_cuda_devices() {
  int count = 0;
  if (const auto obstacle = find_devices(count)) return {unusable(*obstacle, nameless(0))};
  std::vector<DeviceListing> listings;
  for (int index = 0; index < count; ++index) listings.push_back(list_one(index));
  return listings;
}

std::unique_ptr<Device> open_cuda_device(int index) { return open_cuda_rank(index, nullptr); }

std::unique_ptr<Device> open_cuda_rank(int index, std::shared_ptr<Rendezvous> others) {
  int count = 0;
  if (const auto obstacle = find_devices(count)) throw DeviceError(obstacle->reason, obstacle->hint);
  if (index < 0 || index >= count) {
    throw DeviceError(fmt::format("there is no CUDA device {}: {} found", index, count), "see: roofline devices");
  }
  if (const auto obstacle = obstacle_of(cuda_properties(index))) {
    throw DeviceError(fmt::format("CUDA device {} can't be used: {}", index, obstacle->reason), obstacle->hint);
  }
  return std::make_unique<CudaDevice>(index, std::move(others));
}

}  // namespace roofline
