// Requests are single bytes and replies are messages, over a pair of sockets: the write to a socket whose other end is
// closed returns an error, where a pipe would raise a signal.
#include "host/worker_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "host/host.hpp"
#include "model/one_line.hpp"

namespace roofline {
namespace {

constexpr std::chrono::milliseconds kIdleInterval(100);
constexpr std::chrono::milliseconds kEndTimeout(500);
enum Kind : std::uint32_t { kReply, kFailure };  ///< the text of a failure is why there will be no reply

/// Until the parent closes its end.
void serve(Handler& handler, int socket) {
  for (;;) {
    std::string requests;
    switch (read_some(socket, requests, kIdleInterval)) {
      case Arrival::none:
      case Arrival::interrupted:
        handler.idle();
        break;
      case Arrival::closed:
        return;
      case Arrival::bytes:
        if (!write_all(socket, encode(kReply, 0, handler.reply()))) return;
    }
  }
}

int work(const std::function<std::unique_ptr<Handler>()>& make, int socket) {
  std::signal(SIGINT, SIG_IGN);  // the parent ends its workers
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  std::string failure;
  try {
    const std::unique_ptr<Handler> handler = make();
    serve(*handler, socket);
    return 0;
  } catch (const Error& error) {
    failure = one_line(error);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  write_all(socket, encode(kFailure, 0, failure));
  return 0;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::function<std::unique_ptr<Handler>()>& make) {
  Channel channel = Channel::sockets();
  process_ = Process::fork([&] {
    channel.parent.close();
    return work(make, channel.child.get());
  });
  socket_ = std::move(channel.parent);
}

WorkerProcess::~WorkerProcess() { end("it was stopped"); }

void WorkerProcess::end(const std::string& reason) {
  if (socket_.get() < 0) return;
  lost_ = reason;
  ::shutdown(socket_.get(), SHUT_RDWR);  // asks it to end, so that it releases in order what it holds of a device
  if (!process_.reap(kEndTimeout)) {
    process_.signal(SIGKILL);
    if (!process_.reap(kEndTimeout)) process_.abandon();
  }
  socket_.close();
}

void WorkerProcess::request() {
  if (requested_s_ || socket_.get() < 0) return;
  requested_s_ = wall_seconds();
  write_all(socket_.get(), "?");  // a closed socket is noticed by the next read
}

void WorkerProcess::receive() {
  while (socket_.get() >= 0) {
    const Arrival arrival = read_some(socket_.get(), received_, std::chrono::milliseconds(0));
    if (arrival == Arrival::none) return;
    if (arrival != Arrival::closed) continue;
    const std::optional<int> status = process_.reap(kEndTimeout);
    if (!status) process_.abandon();
    lost_ = "its process " + (status ? describe_end(*status) : std::string("has closed its socket"));
    socket_.close();
  }
}

std::optional<std::string> WorkerProcess::reply() {
  receive();
  std::optional<Message> message = take_message(received_);
  if (!message) return std::nullopt;
  if (message->kind == kFailure) {
    end(message->text);
    lost_ = message->text;  // also where its end was seen before
    return std::nullopt;
  }
  requested_s_.reset();
  return std::move(message->text);
}

void WorkerProcess::wait_for(std::span<WorkerProcess* const> workers, double seconds) {
  const double until_s = wall_seconds() + seconds;
  for (;;) {
    std::vector<pollfd> open;
    for (const WorkerProcess* worker : workers) {
      const bool due = worker->requested_s_ && worker->socket_.get() >= 0 && worker->received_.empty();
      if (due) open.push_back({worker->socket_.get(), POLLIN, 0});
    }
    const double left_s = until_s - wall_seconds();
    if (open.empty() || left_s <= 0) return;
    if (::poll(open.data(), open.size(), static_cast<int>(left_s * 1000) + 1) < 0) return;  // an interrupt
    for (WorkerProcess* worker : workers) worker->receive();
  }
}

}  // namespace roofline
