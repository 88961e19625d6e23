#include "host/child_result.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <new>
#include <optional>

#include "host/process.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// Drawing a chart takes less than a second. A child that needs longer than this hangs.
constexpr std::chrono::minutes kTimeout{2};

enum Kind : std::uint32_t { kResult, kNoMemory, kError, kHint };

int send_result(int fd, const std::function<std::string()>& make) {
  std::signal(SIGINT, SIG_IGN);  // the parent's to answer, and it ends this process
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  const auto send = [fd](Kind kind, std::string_view text) { return write_all(fd, encode(kind, 0, text)); };
  try {
    return send(kResult, make()) ? 0 : 1;
  } catch (const std::bad_alloc&) {
    send(kNoMemory, {});
  } catch (const Error& error) {
    send(kHint, error.hint());
    send(kError, error.what());
  } catch (const std::exception& error) {
    send(kError, error.what());
  }
  return 1;
}

/// All that the child sends until it closes its end. False: it did not in time.
bool receive(int fd, std::string& bytes) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  constexpr std::chrono::milliseconds kPatience(1000);
  while (std::chrono::steady_clock::now() < deadline) {
    if (read_some(fd, bytes, kPatience) == Arrival::closed) return true;
  }
  return false;
}

}  // namespace

std::string result_of_child(std::string_view failure, const std::function<std::string()>& make) {
  Channel channel = Channel::sockets();
  Process process = Process::fork([&] {
    channel.parent.close();
    return send_result(channel.child.get(), make);
  });
  channel.child.close();
  std::string bytes, hint;
  const bool in_time = receive(channel.parent.get(), bytes);
  while (std::optional<Message> message = take_message(bytes)) {
    switch (message->kind) {
      case kResult:
        process.reap(kReapTimeout);
        return std::move(message->text);
      case kNoMemory:
        throw std::bad_alloc();
      case kHint:
        hint = std::move(message->text);
        break;
      default:
        throw Error(message->text, hint);
    }
  }
  if (!in_time) throw Error(fmt::format("{}: its process hangs", failure));
  const std::optional<int> status = process.reap(kReapTimeout);
  throw Error(fmt::format("{}: its process {}", failure, status ? describe_end(*status) : "was lost"),
              "free some memory and try again: drawing libraries may crash without it");
}

}  // namespace roofline
