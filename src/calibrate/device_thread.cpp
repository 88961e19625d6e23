// A task queue and its worker thread.
#include "calibrate/device_thread.hpp"

#include <utility>

namespace roofline {

DeviceThread::DeviceThread(std::function<std::unique_ptr<Device>()> open)
    : open_(std::move(open)), thread_([this] { work(); }) {}

DeviceThread::~DeviceThread() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::future<void> DeviceThread::run(std::function<void(Device&)> task) {
  std::packaged_task<void()> packaged([this, task = std::move(task)] {
    if (!device_) device_ = open_();
    task(*device_);
  });
  std::future<void> done = packaged.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(packaged));
  }
  changed_.notify_one();
  return done;
}

void DeviceThread::work() {
  for (;;) {
    std::packaged_task<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || !tasks_.empty(); });
      if (tasks_.empty()) break;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
  device_.reset();  // in the thread that opened it
}

}  // namespace roofline
