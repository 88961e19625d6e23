// Memory of the CPU device: mapped, on huge pages where they are to be had, and touched first by the
// worker that will use it, so that it lies on that worker's NUMA node.
#pragma once

#include <cstddef>
#include <string>

#include "device/cpu/thread_pool.hpp"
#include "device/device.hpp"

namespace roofline {

class MappedBuffer final : public Buffer {
 public:
  /// Throws Error when the kernel refuses the mapping. The contents are zero.
  MappedBuffer(std::size_t bytes, ThreadPool& pool);
  ~MappedBuffer() override;
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;

  void* data() override { return data_; }
  std::size_t size() const override { return bytes_; }

 private:
  std::size_t bytes_;
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
};

/// MemAvailable (what can be had without swapping) in bytes from the text of /proc/meminfo; 0 if it isn't there.
double available_memory_bytes(const std::string& meminfo);

}  // namespace roofline
