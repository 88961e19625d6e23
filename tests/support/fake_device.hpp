// A device of host memory and no time: launches run at once, each takes a millisecond by its own clock.
// For tests of what is built upon Device, with kernels that go wrong on purpose.
#pragma once

#include <cstring>
#include <functional>
#include <map>
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
    auto made = std::make_unique<Memory>(bytes);
    auto* const begin = static_cast<std::byte*>(made->data());
    memory_[begin] = begin + bytes;
    return made;
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
  Clocks clocks() override { return clocks_; }
  void set_core_hz(double hz) { clocks_.core_hz = hz; }

  /// Has `count` fake devices work together, this one the first of them.
  void join_ranks(int count) {
    others_.clear();
    for (int rank = 1; rank < count; ++rank) others_.push_back(std::make_unique<FakeDevice>());
  }
  int ranks() const override { return together_ ? ranks_ : static_cast<int>(others_.size()) + 1; }
  Device& rank(int number) override {
    return together_ || number == 0 ? *this : *others_.at(static_cast<std::size_t>(number - 1));
  }

  /// Has this device be one rank of `count`, which exchange texts by that function.
  using Exchange = std::function<std::vector<std::string>(int ranks, const std::string& mine)>;
  void be_rank(int rank, int count, Exchange together) {
    rank_ = rank;
    ranks_ = count;
    together_ = std::move(together);
  }
  bool holds(int rank) const override { return together_ ? rank == rank_ : Device::holds(rank); }
  std::vector<std::string> exchange(int ranks, const std::string& mine) override {
    return together_ ? together_(ranks, mine) : Device::exchange(ranks, mine);
  }

  /// Whether an address lies in memory of this device that it has given out.
  bool owns(const void* address) const {
    const auto after = memory_.upper_bound(static_cast<const std::byte*>(address));
    return after != memory_.begin() && std::prev(after)->second > address;
  }

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
  Clocks clocks_;
  double free_;
  std::map<const std::byte*, const std::byte*> memory_;  ///< begin and end of all that was ever allocated
  std::vector<std::unique_ptr<FakeDevice>> others_;
  int rank_ = 0, ranks_ = 1;
  Exchange together_;
};

}  // namespace roofline
