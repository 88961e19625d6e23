// Child processes: started, listened to, ended and reaped.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/descriptor.hpp"

namespace roofline {

/// Timeout for reaping a killed process. A process that hangs in a system call ignores all signals.
inline constexpr std::chrono::seconds kReapTimeout{10};

/// Two connected ends. Throws Error.
struct Channel {
  Descriptor parent, child;

  /// `child` writes, `parent` reads.
  static Channel pipe();
  /// Both ends can be written and read.
  static Channel sockets();
};

/// False: the other end is closed.
bool write_all(int fd, std::string_view bytes);

enum class Arrival : std::uint8_t { bytes, none, interrupted, closed };
/// Waits for bytes and appends what there is, 64 KiB at most. Bytes that come within `coalesce` are read at once.
Arrival read_some(int fd, std::string& bytes, std::chrono::milliseconds patience,
                  std::chrono::milliseconds coalesce = {});

struct Message {
  std::uint32_t kind = 0;
  std::int64_t number = 0;
  std::string text;
};
std::string encode(std::uint32_t kind, std::int64_t number, std::string_view text);
/// Removes the first message from the bytes; std::nullopt if it is incomplete.
std::optional<Message> take_message(std::string& bytes);

struct Command {
  std::vector<std::string> argv;                                       ///< the first is looked up in PATH
  std::optional<std::vector<std::string>> environment = std::nullopt;  ///< "NAME=value"; std::nullopt: inherited
  int standard_input = -1;                                             ///< descriptors; -1: this process's
  int standard_output = -1;
  int standard_error = -1;
  bool own_group = false;         ///< signal() reaches what it starts, and Ctrl-C does not reach it
  bool ends_with_parent = false;  ///< it gets SIGTERM when this process ends, however that is
  bool traced = false;            ///< by this process (ptrace): it stops before its first instruction
};

class Process {
 public:
  /// None.
  Process() = default;
  /// Runs `body` in a child, which ends with its result as the exit code, and is killed when this process ends. Throws
  /// Error.
  static Process fork(const std::function<int()>& body);
  /// Starts a program. Throws std::system_error where it can't be executed.
  static Process execute(const Command& command);
  /// Kills it, unless it was reaped or abandoned.
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// True if it has ended; it can still be reaped.
  bool ended() const;
  /// Its wait status once it has ended; std::nullopt on timeout.
  std::optional<int> reap(std::chrono::milliseconds patience);
  /// Stops waiting for it.
  void abandon() { pid_ = -1; }

 private:
  pid_t pid_ = -1;
  bool own_group_ = false;
};

/// A process by pid and start time: another one that is given its pid later is not it.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start = 0;  ///< clock ticks since boot
};
/// std::nullopt if there is no such process, or it is not a descendant of this one (a pid of another namespace).
std::optional<ProcessIdentity> find_descendant(pid_t pid);
/// True if it runs, or has ended without being reaped.
bool exists(const ProcessIdentity& process);
/// False: it has ended, or the signal was refused.
bool send_signal(const ProcessIdentity& process, int number);

/// "was ended by signal 11 (Segmentation fault)", "ended with exit code 1".
std::string describe_end(int status);

/// Makes this process the subreaper of its descendants.
void adopt_orphans();
/// Reaps every child that has ended but this one.
void reap_orphans(const Process& except);
/// The children of this process's first thread, and those it has inherited, as far as the system tells.
std::vector<pid_t> children();

}  // namespace roofline
