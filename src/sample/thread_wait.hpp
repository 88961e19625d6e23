// What a blocked thread waits for, by its system call and the kinds of its descriptors.
#pragma once

#include <cstdint>
#include <string_view>

#include "sample/host_samples.hpp"
#include "sample/proc_text.hpp"

namespace roofline {

/// What a descriptor of a process is.
enum class DescriptorKind : std::uint8_t {
  unknown,
  file,
  pipe,
  terminal,
  network_socket,
  server_socket,  ///< listens for connections, or is one that was accepted
  local_socket,
  gpu,
  event
};

/// Kind by the target of /proc/PID/fd/N: "pipe:[123]", "socket:[5]", "/dev/nvidia0". A socket is assumed to be a
/// network socket.
DescriptorKind descriptor_kind(std::string_view link);

/// System calls grouped by what a thread waits for in them.
enum class SystemCallKind : std::uint8_t { other, futex, read, socket, poll, select, epoll, sleep, child, ioctl, file };
SystemCallKind system_call_kind(std::int64_t number);

/// The state of a thread that waits for data of one descriptor, or of several in a poll.
ThreadState waits_for(DescriptorKind kind, bool polls);

/// State by the kernel function that a thread sleeps in (/proc/PID/task/TID/wchan), if its system call can't be read.
ThreadState state_of_kernel_function(std::string_view function);

}  // namespace roofline
