// Memory of the CPU device: mapped, on huge pages if available, and touched first by the worker that will use it, so
// that it is on that worker's NUMA node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/cpu/thread_pool.hpp"
#include "device/device.hpp"

namespace roofline {

/// huge: if the buffer is large and the system grants them. small: never, to measure the benefit of huge pages.
enum class Pages : std::uint8_t { huge, small };

/// True if the system's setting lets a buffer ask for huge pages; whether it then gets any is another question.
bool huge_pages_allowed();

class MappedBuffer final : public Buffer {
 public:
  /// Throws Error when the kernel refuses the mapping. The contents are zero.
  MappedBuffer(std::size_t bytes, ThreadPool& pool, Pages pages = Pages::huge);
  ~MappedBuffer() override;
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;

  void* data() override { return data_; }
  std::size_t size() const override { return bytes_; }

  /// Bytes of it that lie on huge pages now, as /proc/self/smaps has it.
  double huge_page_bytes() const;

 private:
  std::size_t bytes_;
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
};

/// Bytes on huge pages (AnonHugePages) of the mappings that meet [begin, end), by the text of /proc/<pid>/smaps. A
/// mapping counts whole: the kernel doesn't say where in it they lie.
double huge_page_bytes(const std::string& smaps, std::uintptr_t begin, std::uintptr_t end);

/// MemAvailable (memory available without swapping) in bytes, from the text of /proc/meminfo; 0 if it isn't there.
double available_memory_bytes(const std::string& meminfo);

}  // namespace roofline
