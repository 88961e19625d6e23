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

CallKind call_kind(std::int64_t number) {
  static constexpr auto kKinds = std::to_array<std::pair<long, CallKind>>({
#ifdef SYS_poll
      {SYS_poll, CallKind::poll},
#endif
#ifdef SYS_select
      {SYS_select, CallKind::select},
#endif
#ifdef SYS_epoll_wait
      {SYS_epoll_wait, CallKind::epoll},
#endif
#ifdef SYS_pause
      {SYS_pause, CallKind::sleep},
#endif
#ifdef SYS_futex_waitv
      {SYS_futex_waitv, CallKind::futex},
#endif
#ifdef SYS_epoll_pwait2
      {SYS_epoll_pwait2, CallKind::epoll},
#endif
      {SYS_futex, CallKind::futex},
      {SYS_read, CallKind::read},
      {SYS_readv, CallKind::read},
      {SYS_pread64, CallKind::read},
      {SYS_preadv, CallKind::read},
      {SYS_write, CallKind::read},
      {SYS_writev, CallKind::read},
      {SYS_splice, CallKind::read},
      {SYS_recvfrom, CallKind::socket},
      {SYS_recvmsg, CallKind::socket},
      {SYS_recvmmsg, CallKind::socket},
      {SYS_sendto, CallKind::socket},
      {SYS_sendmsg, CallKind::socket},
      {SYS_accept, CallKind::socket},
      {SYS_accept4, CallKind::socket},
      {SYS_connect, CallKind::socket},
      {SYS_ppoll, CallKind::poll},
      {SYS_pselect6, CallKind::select},
      {SYS_epoll_pwait, CallKind::epoll},
      {SYS_nanosleep, CallKind::sleep},
      {SYS_clock_nanosleep, CallKind::sleep},
      {SYS_rt_sigtimedwait, CallKind::sleep},
      {SYS_rt_sigsuspend, CallKind::sleep},
      {SYS_wait4, CallKind::child},
      {SYS_waitid, CallKind::child},
      {SYS_ioctl, CallKind::ioctl},
      {SYS_fsync, CallKind::file},
      {SYS_fdatasync, CallKind::file},
      {SYS_sync, CallKind::file},
      {SYS_msync, CallKind::file},
      {SYS_io_getevents, CallKind::file},
  });
  const auto found = std::ranges::find(kKinds, number, &std::pair<long, CallKind>::first);
  return found == kKinds.end() ? CallKind::other : found->second;
}

ThreadState waits_for(DescriptorKind kind, bool polls) {
  switch (kind) {
    case DescriptorKind::pipe:
    case DescriptorKind::terminal:
    case DescriptorKind::local_socket:
      return ThreadState::read;
    case DescriptorKind::network_socket:
      return ThreadState::network;
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
                                                      {"wait_woken", ThreadState::network},
                                                      {"inet_csk_accept", ThreadState::network},
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
