// The list of devices and the choice between them. Knows the kinds of device, not what they do.
#include "device/device.hpp"

#include <algorithm>

#include "device/cpu/cpu_device.hpp"
#include "device/cuda/open.hpp"
#include "model/error.hpp"

namespace roofline {

double cache_bytes(const DeviceInfo& device, Level level) {
  double bytes = 0;
  for (const CacheInfo& cache : device.caches) {
    if (cache.level == level) bytes += cache.bytes * static_cast<double>(cache.instances);
  }
  return bytes;
}

double nearer_cache_bytes(const DeviceInfo& device, Level level) {
  double bytes = 0;
  for (const Level nearer : {Level::l3, Level::l2, Level::l1}) {
    // Levels are declared from the farthest to the nearest.
    if (nearer > level) bytes = std::max(bytes, cache_bytes(device, nearer));
  }
  return bytes;
}

double Device::last_level_cache_bytes() const {
  if (info().kind == DeviceKind::cpu) return nearer_cache_bytes(info(), Level::dram);
  for (const Level level : {Level::l3, Level::l2, Level::l1}) {
    if (const double bytes = cache_bytes(info(), level); bytes > 0) return bytes;
  }
  return 0;
}

Device& Device::rank(int number) {
  if (number == 0) return *this;
  throw Error(info().name + " works alone");
}

std::vector<std::string> Device::exchange(int, const std::string& mine) { return {mine}; }

std::unique_ptr<Timer> Device::timer_of_ranks(LaunchFunction launch, int) { return timer(std::move(launch)); }

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
