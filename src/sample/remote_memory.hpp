// The memory of another process, read while it runs. What is read may be torn or out of date.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace roofline {

using Address = std::uint64_t;

class RemoteMemory {
 public:
  explicit RemoteMemory(pid_t pid) : pid_(pid) {}

  /// False if a part of it is unreadable.
  bool read(Address from, void* to, std::size_t size) const;
  /// What is readable of it, from its start.
  std::size_t read_some(Address from, void* to, std::size_t size) const;

  template <typename Value>
  std::optional<Value> read(Address from) const {
    Value value;
    if (!read(from, &value, sizeof value)) return std::nullopt;
    return value;
  }

 private:
  pid_t pid_;
};

/// Pages of a process as they were when each was first read: one system call serves the many small reads of a walk.
/// Forget them before each walk.
class PageCache {
 public:
  explicit PageCache(RemoteMemory memory) : memory_(memory) {}

  void forget() { used_ = 0; }
  bool read(Address from, void* to, std::size_t size);

  template <typename Value>
  std::optional<Value> read(Address from) {
    Value value;
    if (!read(from, &value, sizeof value)) return std::nullopt;
    return value;
  }

 private:
  static constexpr std::size_t kPage = 4096, kPages = 16;
  struct Page {
    Address address = 0;
    std::array<std::byte, kPage> bytes;
  };
  const Page* page_at(Address address);

  RemoteMemory memory_;
  std::array<Page, kPages> pages_ = {};
  std::size_t used_ = 0;
};

}  // namespace roofline
