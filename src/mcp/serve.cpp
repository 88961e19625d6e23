#include "mcp/serve.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "host/interrupt.hpp"
#include "mcp/server.hpp"
#include "mcp/tool_process.hpp"
#include "mcp/tools.hpp"
#include "model/error.hpp"
#include "text/line_reader.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostLine = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kPause(1000);      // between two looks at what runs, and of progress
constexpr std::chrono::milliseconds kLastPause(2000);  // for what runs when the server ends

std::string with_hint(const Error& error) {
  return error.hint().empty() ? error.what() : fmt::format("{} ({})", error.what(), error.hint());
}

class Loop {
 public:
  Loop(const std::filesystem::path& program, const AllowedPaths& paths)
      : program_(program),
        paths_(paths),
        lines_(kMostLine),
        server_([this](const std::string& line) { client_gone_ = client_gone_ || !write_all(STDOUT_FILENO, line); }) {}

  void run() {
    while (!client_gone_ && !interrupted()) {
      const bool has_input = wait();
      if (has_input && !receive()) break;
      look_after_call();
      start_calls();
    }
    if (running_ == nullptr) return;
    running_->stop();
    const auto end = std::chrono::steady_clock::now() + kLastPause;
    while (!running_->ended() && std::chrono::steady_clock::now() < end) {
      ::poll(nullptr, 0, 20);
      running_->update();
    }
  }

 private:
  /// Until something has come or it is time to look; true: from the client.
  bool wait() const {
    std::vector<pollfd> open = {{STDIN_FILENO, POLLIN, 0}};
    if (running_ != nullptr) {
      for (const int fd : running_->descriptors()) open.push_back({fd, POLLIN, 0});
    }
    const int ready = ::poll(open.data(), open.size(), static_cast<int>(kPause.count()));
    return ready > 0 && open.front().revents != 0;
  }

  /// False: the client has closed its end.
  bool receive() {
    std::string bytes;
    const Arrival arrival = read_some(STDIN_FILENO, bytes, std::chrono::milliseconds(0));
    lines_.add(bytes);
    while (const std::optional<LineReader::Line> line = lines_.next()) {
      if (line->too_long) {
        server_.receive_too_long();
      } else {
        server_.receive(line->text);
      }
    }
    return arrival != Arrival::closed;
  }

  void look_after_call() {
    if (running_ == nullptr) return;
    running_->update();
    if (server_.is_cancelled()) running_->stop();
    if (!running_->ended()) return report_progress();
    ToolAnswer answer;
    try {
      answer = running_->answer();
    } catch (const Error& error) {
      answer = {with_hint(error), true};
    } catch (const std::bad_alloc&) {
      answer = {"the result needs more memory than there is", true};
    }
    running_.reset();
    server_.finish(answer);
  }

  void report_progress() {
    const CallProgress progress = running_->progress();
    constexpr double kInterval_s = 0.9;
    if (progress.seconds < reported_s_ + kInterval_s) return;
    reported_s_ = progress.seconds;
    server_.report_progress(progress);
  }

  void start_calls() {
    while (running_ == nullptr) {
      const PendingCall* const call = server_.start_next();
      if (call == nullptr) return;
      reported_s_ = 0;
      try {
        running_ = std::make_unique<ToolProcess>(program_, command_of(*find_tool(call->tool), call->arguments, paths_));
        server_.report_progress({.message = call->tool});
      } catch (const Error& error) {
        server_.finish({with_hint(error), true});
      } catch (const std::system_error& error) {
        server_.finish({fmt::format("can't start roofline: {}", error.code().message()), true});
      }
    }
  }

  std::filesystem::path program_;
  const AllowedPaths& paths_;
  LineReader lines_;
  McpServer server_;
  std::unique_ptr<ToolProcess> running_;
  double reported_s_ = 0;
  bool client_gone_ = false;
};

}  // namespace

void serve_mcp(const std::filesystem::path& program, const AllowedPaths& paths) { Loop(program, paths).run(); }

}  // namespace roofline
