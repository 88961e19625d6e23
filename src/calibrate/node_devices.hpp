// The devices of a node in child processes that open several at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "calibrate/device_thread.hpp"
#include "device/isolate.hpp"
#include "model/node.hpp"

namespace roofline {

/// Opens the device of an index. Throws DeviceError.
using OpenDevice = std::function<std::unique_ptr<Device>(int device)>;

/// "cuda:3".
std::string device_name(int device);

/// One thread per device, created on first use. Lives in a child process.
class NodeDevices {
 public:
  /// Threads are bound to the CPUs near their device if the host has several NUMA nodes. `topology` outlives the
  /// object.
  NodeDevices(OpenDevice open, const NodeTopology& topology) : open_(std::move(open)), topology_(topology) {}

  DeviceThread& operator[](int device);

 private:
  OpenDevice open_;
  const NodeTopology& topology_;
  std::map<int, std::unique_ptr<DeviceThread>> threads_;
};

/// Serialises sending from several threads.
class SharedSend {
 public:
  explicit SharedSend(const Send& send) : send_(send) {}
  void operator()(const std::string& message) {
    const std::lock_guard lock(mutex_);
    send_(message);
  }

 private:
  const Send& send_;
  std::mutex mutex_;
};

}  // namespace roofline
