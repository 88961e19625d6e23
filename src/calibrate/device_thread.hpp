// A thread with an open device, because CUDA's current device is a property of the thread.
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
  /// `open` is called in the thread, before the first task; if it throws, that task and all later ones throw the
  /// same.
  explicit DeviceThread(std::function<std::unique_ptr<Device>()> open);
  ~DeviceThread();
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  /// Tasks run in order; the future rethrows a task's exception.
  std::future<void> run(std::function<void(Device&)> task);

 private:
  void work();

  std::function<std::unique_ptr<Device>()> open_;
  std::unique_ptr<Device> device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ended_ = false;
  std::thread thread_;  // last, because it uses the others
};

}  // namespace roofline
