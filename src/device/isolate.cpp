// Runs jobs in a child process that sends messages through a pipe; its supervisor outlives whatever the child does.
#include "device/isolate.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <optional>
#include <set>
#include <thread>

#include "host/interrupt.hpp"
#include "host/process.hpp"

namespace roofline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick(100);
/// How long messages are left to accumulate: a parent that wakes for each one disturbs what its child measures.
constexpr std::chrono::milliseconds kCoalesceInterval(5);
/// How much of a limit one look at the child may use up: the time that this process itself was stopped (Ctrl-Z, a
/// suspended machine) is not the child's time.
constexpr std::chrono::duration<double> kLongestLook(1);
/// How long a child may take to send what it has after an interrupt: one batch, verification included.
constexpr std::chrono::seconds kGrace(3);
/// How long a child that has closed its pipe may take to end: the system takes seconds to free a large memory.
constexpr std::chrono::seconds kExitTimeout(60);
constexpr int kFreshProcess = 75;  // exit code (EX_TEMPFAIL): the child asks for a successor
constexpr int kNothingLeft = 76;   // exit code: the jobs that are left need not be run
constexpr const char* kStays = " can't be ended: it hangs in a system call";

enum Kind : std::uint32_t { kBegin, kMessage, kEnd };

int run_jobs(const Jobs& jobs, std::int64_t first, int fd) {
  std::string ended;  // the last job's end, which is sent with the next one's beginning: each write wakes the parent
  AfterJob after = AfterJob::next;
  for (std::int64_t job = first; job < jobs.count && after == AfterJob::next && !interrupted(); ++job) {
    if (!write_all(fd, ended + encode(kBegin, job, {}))) return 1;
    after = jobs.run(job, [&](std::string_view text) {
      if (!write_all(fd, encode(kMessage, job, text))) ::_exit(1);
    });
    ended = encode(kEnd, job, {});
  }
  if (!write_all(fd, ended)) return 1;
  if (after == AfterJob::fresh_process) return kFreshProcess;
  return after == AfterJob::nothing_left ? kNothingLeft : 0;
}

/// The processes that a child has started (a suite's kernel may do anything). This process inherits them when the child
/// ends, and ends them.
class Descendants {
 public:
  Descendants() { adopt_orphans(); }
  void end() const noexcept try {
    // Their own children appear once they have gone.
    const auto deadline = Clock::now() + std::chrono::seconds(1);
    for (bool any = true; any && Clock::now() < deadline;) {
      any = false;
      for (const pid_t pid : children()) {
        if (before_.contains(pid)) continue;
        any = true;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, WNOHANG);
      }
      if (any) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const std::bad_alloc&) {
    // Without memory for their numbers they stay.
  }

 private:
  static std::set<pid_t> now() {
    const std::vector<pid_t> all = children();
    return {all.begin(), all.end()};
  }
  std::set<pid_t> before_ = now();
};

/// A forked child and the messages that come from it.
class Child {
 public:
  Child(const Jobs& jobs, std::int64_t first) : jobs_(jobs), next_(first) {
    Channel channel = Channel::pipe();
    process_ = Process::fork([&] {
      channel.parent.close();
      return run_jobs(jobs, first, channel.child.get());
    });
    input_ = std::move(channel.parent);
  }
  ~Child() {
    if (waited_for_) return;
    input_.close();
    process_.signal(SIGKILL);
    end(kReapTimeout);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Waits a tick for messages and hands them on; false once nothing more will come.
  bool pump() {
    switch (read_some(input_.get(), received_, kTick, kCoalesceInterval)) {
      case Arrival::none:
        // What the child has started may hold its end of the pipe open for longer than it lives.
        return !process_.ended();
      case Arrival::interrupted:
        return true;
      case Arrival::closed:
        return false;
      case Arrival::bytes:
        break;
    }
    while (const std::optional<Message> message = take_message(received_)) accept(*message);
    return true;
  }

  /// How the child ended; empty when it ended as it should.
  std::string wait() {
    const std::optional<int> status = end(kExitTimeout);
    if (!status) return (stopped_.empty() ? "the process" : stopped_ + ", and its process") + std::string(kStays);
    if (!stopped_.empty()) return stopped_;
    const int code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 1;
    nothing_left_ = code == kNothingLeft;
    return code == 0 || code == kFreshProcess || nothing_left_ ? "" : "the process " + describe_end(*status);
  }

  void signal(int number) const { process_.signal(number); }
  std::int64_t next_job() const { return next_; }
  bool in_job() const { return in_job_; }
  bool nothing_left() const { return nothing_left_; }  ///< after wait()

  /// Kills it at its job's time limit; an endless kernel on a GPU ends with its process. False once there is no use in
  /// waiting for it any longer.
  bool keep_to_limit() {
    const auto now = Clock::now();
    const std::chrono::duration<double> look = now - last_look_;
    last_look_ = now;
    taken_ += std::min(look, kLongestLook);
    if (!stopped_.empty()) return taken_ < kReapTimeout;
    const std::optional<double> limit = jobs_.limit_s(std::min(next_, jobs_.count - 1));
    if (!limit || taken_.count() < *limit) return true;
    stopped_ = fmt::format("it was ended after {:g} s, the time limit", *limit);
    signal(SIGKILL);
    taken_ = {};
    return true;
  }

 private:
  std::optional<int> end(std::chrono::seconds patience) {
    waited_for_ = true;
    const std::optional<int> status = process_.reap(patience);
    if (!status) process_.abandon();
    descendants_.end();
    return status;
  }

  void accept(const Message& message) {
    in_job_ = message.kind != kEnd;
    if (message.kind != kMessage && stopped_.empty()) taken_ = {};
    next_ = message.number + (in_job_ ? 0 : 1);
    if (message.kind == kMessage) jobs_.on_message(message.number, message.text);
  }

  const Jobs& jobs_;
  Descendants descendants_;
  std::int64_t next_;
  Process process_;
  Descriptor input_;
  bool in_job_ = false;
  bool waited_for_ = false;
  bool nothing_left_ = false;
  std::string received_;
  Clock::time_point last_look_ = Clock::now();
  std::chrono::duration<double> taken_{};  ///< by the job, or since it was killed
  std::string stopped_;                    ///< why it was killed
};

/// Hands on what a child sends until it ends; true when an interrupt ended it.
bool follow(Child& child, const Jobs& jobs) {
  std::optional<Clock::time_point> deadline;
  Clock::time_point tick;  // long ago
  const int interrupts_before = interrupts();
  while (child.pump()) {
    if (Clock::now() - tick >= kTick) {
      jobs.on_tick();
      tick = Clock::now();
    }
    if (!child.keep_to_limit()) break;
    if (!interrupted()) continue;
    if (!deadline) {
      child.signal(SIGINT);  // kill -INT reaches the parent alone
      deadline = Clock::now() + kGrace;
    }
    if (Clock::now() > *deadline || interrupts() > interrupts_before + 1) {
      child.signal(SIGKILL);
      return true;
    }
  }
  return interrupted();
}

}  // namespace

JobsEnd run_isolated(const Jobs& jobs) {
  std::int64_t first = 0;
  while (first < jobs.count && !jobs.enough()) {
    Child child(jobs, first);
    if (follow(child, jobs)) return JobsEnd::interrupted;
    const std::string reason = child.wait();
    // A process that sends nothing would be restarted endlessly, however it ended.
    const bool silent = child.next_job() == first;
    const bool lost = child.in_job() || silent;
    const char* const unknown = child.in_job() ? "the process ended early" : "its messages could not be read";
    if (lost) jobs.on_lost(child.next_job(), reason.empty() ? unknown : reason);
    if (child.nothing_left()) return JobsEnd::finished;
    first = child.next_job() + (lost ? 1 : 0);
  }
  return JobsEnd::finished;
}

}  // namespace roofline
