#include "sample/thread_wait.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <utility>

namespace roofline {

DescriptorKind descriptor_kind(std::string_view link) {
  if (link.empty()) return DescriptorKind::unknown;
  if (link.starts_with("socket:")) return DescriptorKind::network_socket;
  if (link.starts_with("pipe:")) return DescriptorKind::pipe;
  if (link.starts_with("anon_inode:")) return DescriptorKind::event;
  if (link.starts_with("/dev/nvidia") || link.starts_with("/dev/dri/") || link == "/dev/kfd")
    return DescriptorKind::gpu;
  if (link.starts_with("/dev/pts/") || link.starts_with("/dev/tty") || link == "/dev/console") {
    return DescriptorKind::terminal;
  }
  return DescriptorKind::file;
}

SystemCallKind system_call_kind(std::int64_t number) {
  static constexpr auto kKinds = std::to_array<std::pair<long, SystemCallKind>>({
#ifdef SYS_poll
      {SYS_poll, SystemCallKind::poll},
#endif
#ifdef SYS_select
      {SYS_select, SystemCallKind::select},
#endif
#ifdef SYS_epoll_wait
      {SYS_epoll_wait, SystemCallKind::epoll},
#endif
#ifdef SYS_pause
      {SYS_pause, SystemCallKind::sleep},
#endif
#ifdef SYS_vfork
      {SYS_vfork, SystemCallKind::child},
#endif
#ifdef SYS_clone3  // of posix_spawn and vfork: the parent stops until the child has begun its program
      {SYS_clone3, SystemCallKind::child},
#endif
#ifdef SYS_futex_waitv
      {SYS_futex_waitv, SystemCallKind::futex},
#endif
#ifdef SYS_epoll_pwait2
      {SYS_epoll_pwait2, SystemCallKind::epoll},
#endif
      {SYS_futex, SystemCallKind::futex},
      {SYS_read, SystemCallKind::read},
      {SYS_readv, SystemCallKind::read},
      {SYS_pread64, SystemCallKind::read},
      {SYS_preadv, SystemCallKind::read},
      {SYS_write, SystemCallKind::read},
      {SYS_writev, SystemCallKind::read},
      {SYS_splice, SystemCallKind::read},
      {SYS_recvfrom, SystemCallKind::socket},
      {SYS_recvmsg, SystemCallKind::socket},
      {SYS_recvmmsg, SystemCallKind::socket},
      {SYS_sendto, SystemCallKind::socket},
      {SYS_sendmsg, SystemCallKind::socket},
      {SYS_accept, SystemCallKind::socket},
      {SYS_accept4, SystemCallKind::socket},
      {SYS_connect, SystemCallKind::socket},
      {SYS_ppoll, SystemCallKind::poll},
      {SYS_pselect6, SystemCallKind::select},
      {SYS_epoll_pwait, SystemCallKind::epoll},
      {SYS_nanosleep, SystemCallKind::sleep},
      {SYS_clock_nanosleep, SystemCallKind::sleep},
      {SYS_rt_sigtimedwait, SystemCallKind::sleep},
      {SYS_rt_sigsuspend, SystemCallKind::sleep},
      {SYS_clone, SystemCallKind::child},
      {SYS_wait4, SystemCallKind::child},
      {SYS_waitid, SystemCallKind::child},
      {SYS_ioctl, SystemCallKind::ioctl},
      {SYS_fsync, SystemCallKind::file},
      {SYS_fdatasync, SystemCallKind::file},
      {SYS_sync, SystemCallKind::file},
      {SYS_msync, SystemCallKind::file},
      {SYS_io_getevents, SystemCallKind::file},
  });
  const auto found = std::ranges::find(kKinds, number, &std::pair<long, SystemCallKind>::first);
  return found == kKinds.end() ? SystemCallKind::other : found->second;
}

ThreadState waits_for(DescriptorKind kind, bool polls) {
  switch (kind) {
    case DescriptorKind::pipe:
    case DescriptorKind::terminal:
    case DescriptorKind::local_socket:
      return ThreadState::read;
    case DescriptorKind::network_socket:
      return ThreadState::network;
    case DescriptorKind::server_socket:
      return ThreadState::request;
    case DescriptorKind::gpu:
      return ThreadState::gpu;
    case DescriptorKind::file:
      return polls ? ThreadState::poll : ThreadState::disk;
    case DescriptorKind::event:
    case DescriptorKind::unknown:
      break;
  }
  return polls ? ThreadState::poll : ThreadState::other;
}

ThreadState state_of_kernel_function(std::string_view function) {
  struct Part {
    std::string_view part;
    ThreadState state;
  };
  static constexpr auto kParts = std::to_array<Part>({{"futex", ThreadState::lock},
                                                      {"pipe_", ThreadState::read},
                                                      {"n_tty_", ThreadState::read},
                                                      {"unix_stream", ThreadState::read},
                                                      {"nanosleep", ThreadState::sleep},
                                                      {"sigtimedwait", ThreadState::sleep},
                                                      {"do_wait", ThreadState::child},
                                                      {"vfork", ThreadState::child},
                                                      {"wait_woken", ThreadState::network},
                                                      {"inet_csk_accept", ThreadState::request},
                                                      {"sk_wait_data", ThreadState::network},
                                                      {"skb_wait", ThreadState::network},
                                                      {"tcp_", ThreadState::network},
                                                      {"poll", ThreadState::poll},
                                                      {"do_select", ThreadState::poll},
                                                      {"nvidia", ThreadState::gpu},
                                                      {"io_schedule", ThreadState::disk},
                                                      {"folio_wait", ThreadState::disk},
                                                      {"wait_on_page", ThreadState::disk}});
  for (const Part& part : kParts) {
    if (function.find(part.part) != std::string_view::npos) return part.state;
  }
  return ThreadState::other;
}

}  // namespace roofline
