// Parses the files of /proc about a thread's activity. Pure: opens no file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// Fields of /proc/PID/task/TID/stat.
struct ThreadStat {
  std::int64_t id = 0, parent = 0;
  std::string name;
  char state = '?';         ///< 'R', 'S', 'D', 'Z', …
  std::uint64_t start = 0;  ///< clock ticks since boot
};
std::optional<ThreadStat> parse_thread_stat(std::string_view text);

/// Fields of /proc/PID/task/TID/schedstat.
struct ThreadTimes {
  std::uint64_t cpu = 0, waited = 0;  ///< ns on a CPU, and ns ready without one
  std::uint64_t turns = 0;            ///< times that it was given a CPU
  bool operator==(const ThreadTimes&) const = default;
};
std::optional<ThreadTimes> parse_thread_times(std::string_view text);

/// Fields of /proc/PID/task/TID/syscall: the system call that a thread waits in.
struct BlockedCall {
  bool running = false;
  std::int64_t number = -1;  ///< -1: in no system call (a page fault)
  std::array<std::uint64_t, 6> arguments = {};
  std::uint64_t stack_pointer = 0, program_counter = 0;
};
std::optional<BlockedCall> parse_blocked_call(std::string_view text);

/// The process ids in /proc/PID/task/TID/children.
std::vector<std::int64_t> parse_ids(std::string_view text);

/// The descriptors that an epoll instance watches, of /proc/PID/fdinfo/N.
std::vector<int> parse_epoll_targets(std::string_view text);

/// True if the socket of that inode listens, or was accepted by one that does: their local ports are equal. `table`:
/// /proc/PID/net/tcp and tcp6.
bool serves_requests(std::string_view table, std::uint64_t inode);

/// A mapped part of a file or of memory, of /proc/PID/maps.
struct Mapping {
  std::uint64_t start = 0, end = 0, offset = 0;
  bool executable = false;
  std::uint64_t device = 0, inode = 0;
  std::string path;  ///< empty: memory of no file
};
std::vector<Mapping> parse_mappings(std::string_view text);

}  // namespace roofline
