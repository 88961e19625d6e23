// Questions are single bytes, answers are texts behind their length, over a pair of sockets: writing to a socket whose
// other end is gone is an error that can be asked for, where a pipe's would be a signal.
#include "device/companion.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "host/host.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr int kIdleMilliseconds = 100;
constexpr int kPatience = 500;  // milliseconds for a process to end
constexpr char kAnswer = 'a';   // a text that answers
constexpr char kFailure = 'f';  // why there will be none

void send_text(int fd, char kind, const std::string& text) {
  const auto bytes = static_cast<std::uint32_t>(text.size());
  std::string frame(1, kind);
  frame.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  frame += text;
  for (std::string_view left = frame; !left.empty();) {
    const ssize_t written = ::send(fd, left.data(), left.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(0);  // nobody is listening any more
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void serve(const std::function<std::unique_ptr<Errand>()>& begin, int socket, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::signal(SIGINT, SIG_IGN);  // the parent's to understand
  ::signal(SIGTERM, SIG_DFL);
  try {
    const std::unique_ptr<Errand> errand = begin();
    for (;;) {
      pollfd asked{socket, POLLIN, 0};
      const int ready = ::poll(&asked, 1, kIdleMilliseconds);
      if (ready < 0 && errno != EINTR) break;
      if (ready <= 0) {
        errand->idle();
        continue;
      }
      char question = 0;
      if (::read(socket, &question, 1) != 1) break;  // the parent has closed its end
      send_text(socket, kAnswer, errand->answer());
    }
  } catch (const Error& error) {
    send_text(socket, kFailure,
              error.hint().empty() ? error.what() : fmt::format("{}: {}", error.what(), error.hint()));
  } catch (const std::exception& error) {
    send_text(socket, kFailure, error.what());
  }
  ::_exit(0);
}

/// Its status, once it has ended; nothing where it has not within the time.
std::optional<int> reaped(pid_t pid, int milliseconds) {
  int status = 0;
  for (int waited = 0;; waited += 10) {
    if (::waitpid(pid, &status, WNOHANG) == pid) return status;
    if (waited >= milliseconds) return std::nullopt;
    ::poll(nullptr, 0, 10);
  }
}

std::string death_of(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("its process was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return "its process has ended";
}

}  // namespace

Companion::Companion(const std::function<std::unique_ptr<Errand>()>& begin) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(fmt::format("can't talk to a process: {}", std::strerror(errno)));
  }
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(ends[0]);
    serve(begin, ends[1], parent);
  }
  const int error = errno;
  ::close(ends[1]);
  socket_ = ends[0];
  if (pid_ > 0) return;
  ::close(socket_);
  throw Error(fmt::format("can't start a process: {}", std::strerror(error)));
}

Companion::~Companion() { end("it was ended"); }

void Companion::end(const std::string& reason) {
  if (pid_ < 0) return;
  lost_ = reason;
  ::shutdown(socket_, SHUT_RDWR);  // asks it to end, so that it gives back in order what it holds of a device
  if (!reaped(pid_, kPatience)) {
    ::kill(pid_, SIGKILL);
    reaped(pid_, kPatience);  // one that hangs in the system's own code stays, whatever it is sent
  }
  ::close(socket_);
  pid_ = -1;
}

void Companion::ask() {
  if (asked_s_ || pid_ < 0) return;
  asked_s_ = wall_seconds();
  const char question = '?';
  static_cast<void>(::send(socket_, &question, 1, MSG_NOSIGNAL));  // where nobody reads it, the next read says so
}

void Companion::take_in() {
  std::array<char, 65536> buffer{};
  while (pid_ >= 0) {
    const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;  // nothing for now
    const std::optional<int> status = reaped(pid_, kPatience);
    lost_ = status ? death_of(*status) : "its process has ended";
    ::close(socket_);
    pid_ = -1;
  }
}

std::optional<std::string> Companion::answer() {
  take_in();
  std::uint32_t bytes = 0;
  constexpr std::size_t kHead = 1 + sizeof bytes;
  if (received_.size() < kHead) return std::nullopt;
  std::memcpy(&bytes, received_.data() + 1, sizeof bytes);
  if (received_.size() < kHead + bytes) return std::nullopt;
  const char kind = received_[0];
  std::string text = received_.substr(kHead, bytes);
  received_.erase(0, kHead + bytes);
  if (kind == kFailure) {
    end(text);
    lost_ = text;  // also where its end was seen before
    return std::nullopt;
  }
  asked_s_.reset();
  return text;
}

void Companion::wait_for(std::span<Companion* const> companions, double seconds) {
  const double until_s = wall_seconds() + seconds;
  for (;;) {
    std::vector<pollfd> open;
    for (Companion* companion : companions) {
      const bool due = companion->asked_s_ && companion->pid_ >= 0 && companion->received_.empty();
      if (due) open.push_back({companion->socket_, POLLIN, 0});
    }
    const double left_s = until_s - wall_seconds();
    if (open.empty() || left_s <= 0) return;
    if (::poll(open.data(), open.size(), static_cast<int>(left_s * 1000) + 1) < 0) return;  // an interrupt
    for (Companion* companion : companions) companion->take_in();
  }
}

}  // namespace roofline
