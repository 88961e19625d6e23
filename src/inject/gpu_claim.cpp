#include "inject/gpu_claim.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <vector>

#include "inject/cupti_library.hpp"

namespace roofline::inject {
namespace {

/// Sockets with claims, which a forked child must not keep. Never freed: threads may be in it when the process ends.
struct Claims {
  std::mutex mutex;
  std::vector<int> sockets;
};
Claims& claims() {
  static auto* const all = new Claims;
  return *all;
}

void forget_in_child() {
  for (const int one : claims().sockets) ::close(one);
  claims().sockets.clear();
  claims().mutex.unlock();
}

}  // namespace

/// A name in the abstract namespace of sockets: the kernel frees it with the last descriptor.
bool GpuClaim::take(const std::string& name) {
  if (socket_ >= 0) return true;
  static const int watched =
      pthread_atfork([] { claims().mutex.lock(); }, [] { claims().mutex.unlock(); }, forget_in_child);
  const int made = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0 || watched != 0) return true;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::copy_n(name.begin(), length, &address.sun_path[1]);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (::bind(made, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    const bool taken = errno == EADDRINUSE;
    ::close(made);
    return !taken;
  }
  const std::lock_guard lock(claims().mutex);
  claims().sockets.push_back(made);
  socket_ = made;
  return true;
}

void GpuClaim::give() {
  if (socket_ < 0) return;
  const std::lock_guard lock(claims().mutex);
  std::erase(claims().sockets, socket_);
  ::close(socket_);
  socket_ = -1;
}

bool CounterClaims::take(CUdevice device) {
  CUuuid uuid = {};
  if (driver().device_uuid == nullptr || driver().device_uuid(&uuid, device) != CUDA_SUCCESS) return true;
  return claims_[device].take("roofline-counters-" + std::string(uuid.bytes, sizeof(uuid.bytes)));
}

}  // namespace roofline::inject
