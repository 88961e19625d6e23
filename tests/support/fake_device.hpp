// A device of host memory and no time: launches run at once, each takes a millisecond by its own clock.
// For tests of what is built upon Device, with kernels that go wrong on purpose.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "model/error.hpp"

namespace roofline {

class FakeDevice final : public Device {
 public:
  /// `last_level_cache` and `memory` in bytes.
  explicit FakeDevice(double last_level_cache = 1 << 20, double memory = 1e9) : free_(memory) {
    info_.kind = DeviceKind::cpu;
    info_.name = "fake";
    info_.identity = "fake";
    info_.units = 1;
    info_.memory_bytes = memory;
    info_.caches = {{.level = Level::l3, .bytes = last_level_cache, .instances = 1}};
  }

  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    if (static_cast<double>(bytes) > free_) throw Error("out of fake memory", "ask for less");
    return std::make_unique<Memory>(bytes);
  }

  double free_memory_bytes() const override { return free_; }
  void upload(void* device, const void* host, std::size_t bytes) override { std::memcpy(device, host, bytes); }
  void download(void* host, const void* device, std::size_t bytes) override { std::memcpy(host, device, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* device, std::byte value, std::size_t bytes) override {
    std::memset(device, std::to_integer<int>(value), bytes);
  }
  void synchronize() override {}
  std::unique_ptr<Timer> timer(LaunchFunction launch) override { return std::make_unique<Ticks>(std::move(launch)); }
  double timer_resolution_s() const override { return 1e-6; }
  Clocks clocks() override { return {}; }

 private:
  class Memory final : public Buffer {
   public:
    explicit Memory(std::size_t bytes)
        : size_(bytes), data_(::operator new (bytes, std::align_val_t{256}), &Memory::release) {}
    void* data() override { return data_.get(); }
    std::size_t size() const override { return size_; }

   private:
    static void release(void* data) { ::operator delete (data, std::align_val_t{256}); }

    std::size_t size_;
    std::unique_ptr<void, void (*)(void*)> data_;
  };

  class Ticks final : public Timer {
   public:
    explicit Ticks(LaunchFunction launch) : launch_(std::move(launch)) {}
    Reading time(std::int64_t launches) override {
      for (std::int64_t i = 0; i < launches; ++i) launch_(i);
      return {.seconds = 1e-3 * static_cast<double>(launches), .clock_hz = {}};
    }

   private:
    LaunchFunction launch_;
  };

  DeviceInfo info_;
  double free_;
};

}  // namespace roofline
