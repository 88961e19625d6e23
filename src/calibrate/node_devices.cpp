#include "calibrate/node_devices.hpp"

#include <fmt/format.h>

#include "device/numa_place.hpp"

namespace roofline {

std::string device_name(int device) { return fmt::format("cuda:{}", device); }

DeviceThread& NodeDevices::operator[](int device) {
  std::unique_ptr<DeviceThread>& thread = threads_[device];
  if (!thread) {
    std::string cpus;
    for (const DevicePlace& place : topology_.places) {
      if (place.device == device && topology_.numa_nodes.size() > 1) cpus = place.cpus;
    }
    thread = std::make_unique<DeviceThread>([open = open_, device, cpus] {
      stay_near(cpus);
      return open(device);
    });
  }
  return *thread;
}

}  // namespace roofline
