// The devices that commands work on: --device, --threads and --cpus.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "device/device.hpp"

namespace roofline {

/// No kind means: the first CUDA GPU that works, else the CPU.
struct DeviceRequest {
  std::optional<DeviceKind> kind = {};
  int index = 0;
  int threads = 0;
  std::vector<int> cpus = {};     ///< empty: those that the CPU device chooses
  bool all = false;               ///< every GPU of this machine (--device all)
  std::vector<int> indices = {};  ///< these GPUs, ascending (--device cuda:0,2); empty: one device
  std::string text = {};          ///< as given by the user

  /// True if it names a node instead of one device.
  bool several() const { return all || !indices.empty(); }

  void add_to(CommandEntry& command);
  /// `single`: the name of a command that works on one device; empty: several are allowed.
  void finish(const std::string& single = {});
};

/// Devices to watch with `monitor`; none named: all devices.
struct MonitoredDevices {
  bool cpu = false;
  bool every_gpu = false;
  std::vector<int> gpus = {};  ///< ascending
  bool all() const { return !cpu && !every_gpu && gpus.empty(); }

  void add_to(CommandEntry& command);
};

/// Name of the device on the command line: "cpu", "cuda:1".
std::string device_word(const DeviceInfo& info);

}  // namespace roofline
