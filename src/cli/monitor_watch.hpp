// The devices being watched, one worker process per GPU, and samples of their sensors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/device_flags.hpp"
#include "host/worker_process.hpp"
#include "monitor/rates.hpp"
#include "monitor/sample.hpp"

namespace roofline {

/// The requested devices with their stored roofs. Throws DeviceError if a GPU that was named does not exist; with all
/// devices requested, missing ones are reported on stderr.
std::vector<Watched> watched_devices(const MonitoredDevices& request);

/// The handler of a worker process that reads the sensors of a GPU; its replies are readings (monitor/wire.hpp).
std::unique_ptr<Handler> sensor_handler(const GpuAddress& address, std::optional<double> sample_s);

/// File that stores the byte check of a device.
std::string byte_check_path(const DeviceInfo& device);

class Watch {
 public:
  Watch(std::vector<Watched> devices, bool counters);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Rates are averages since the previous sample. The first call waits for the driver of every device.
  Sample sample(double interval_s);

 private:
  struct Gpu;
  struct Host;
  void ask_gpus(double patience_s);
  DeviceSample gpu(Gpu& gpu);

  std::vector<Gpu> gpus_;
  std::unique_ptr<Host> host_;
  bool counters_;
  bool first_ = true;
};

}  // namespace roofline
