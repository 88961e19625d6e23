// The devices that are watched, each GPU by a process of its own, and what they say at one moment.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "host/worker_process.hpp"
#include "monitor/rates.hpp"
#include "monitor/sample.hpp"

namespace roofline {

/// What was asked for, with the roofs that are kept. Throws DeviceError where a GPU that was named is not there;
/// of all devices, those that are missing are told of.
std::vector<Watched> watched_devices(const MonitoredDevices& request);

/// What a worker does that reads a GPU's sensors: it answers with readings (monitor/wire.hpp).
std::unique_ptr<Handler> sensor_handler(const GpuAddress& address, std::optional<double> sample_s);

/// Where a check of that device's bytes is kept.
std::string byte_check_path(const DeviceInfo& device);

class Watch {
 public:
  Watch(std::vector<Watched> devices, bool counters);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Rates are those since the sample before. The first one waits until every device's driver is up.
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
