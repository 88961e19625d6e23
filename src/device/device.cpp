// The list of devices and the choice between them. Knows the kinds of device, not what they do.
#include "device/device.hpp"

#include "device/cpu/cpu_device.hpp"
#include "device/cuda/open.hpp"
#include "model/error.hpp"

namespace roofline {

double Device::last_level_cache_bytes() const {
  double bytes = 0;
  int nearest = -1;
  for (const CacheInfo& cache : info().caches) {
    const int distance = cache.level == Level::l3 ? 3 : cache.level == Level::l2 ? 2 : cache.level == Level::l1 ? 1 : 0;
    if (distance <= nearest || distance == 0) continue;
    nearest = distance;
    bytes = cache.bytes * static_cast<double>(cache.instances);
  }
  return bytes;
}

std::vector<DeviceListing> list_devices(const DeviceOptions& options) {
  std::vector<DeviceListing> listings = list_cuda_devices();
  DeviceListing cpu;
  try {
    cpu.info = CpuDevice(options).info();
  } catch (const Error& error) {
    cpu.info.name = "CPU";
    cpu.info.identity = "cpu";
    cpu.usable = false;
    cpu.reason = error.what();
  }
  listings.push_back(cpu);
  return listings;
}

std::unique_ptr<Device> open_device(DeviceKind kind, int index, const DeviceOptions& options) {
  if (kind == DeviceKind::cuda) return open_cuda_device(index);
  if (index != 0)
    throw DeviceError("there is only one CPU device", "use --device cpu, and --threads to use fewer cores");
  return std::make_unique<CpuDevice>(options);
}

}  // namespace roofline
