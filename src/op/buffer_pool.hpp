// Device memory that cases return and later cases take again. New memory is slow (1 GB/s for pages of a virtual
// machine), so that repetitions with large buffers would mostly wait for it.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "device/device.hpp"

namespace roofline {

class BufferPool {
 public:
  explicit BufferPool(std::uint64_t seed) : random_(seed) {}

  /// An idle buffer of exactly that size, drawn at random, or a new one if there is none. It has the contents of its
  /// last use. Destroyed, it is idle again; the pool must outlive it. Throws as Device::allocate() does. All calls are
  /// for one device.
  std::unique_ptr<Buffer> take(Device& device, std::size_t bytes);

  double idle_bytes() const;

 private:
  class Lent;
  void make_room(Device& device, std::size_t bytes);

  std::vector<std::unique_ptr<Buffer>> idle_ = {};  ///< the one that was returned first is first
  std::mt19937_64 random_;
};

}  // namespace roofline
