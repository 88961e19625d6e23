// A thread that has a device open: which GPU CUDA's calls are for is a matter of the thread that makes them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "device/device.hpp"

namespace roofline {

class DeviceThread {
 public:
  /// `open` is called in the thread, before the first task; what it throws is what that task and all later ones throw.
  explicit DeviceThread(std::function<std::unique_ptr<Device>()> open);
  ~DeviceThread();
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  /// Tasks run one after another; the future has what the task throws.
  std::future<void> run(std::function<void(Device&)> task);

 private:
  void work();

  std::function<std::unique_ptr<Device>()> open_;
  std::unique_ptr<Device> device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace roofline
