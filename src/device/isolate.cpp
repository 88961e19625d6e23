// fork, a pipe of framed messages, and a supervisor that outlives whatever its child does.
#include "device/isolate.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <set>
#include <thread>

#include "host/interrupt.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr std::chrono::milliseconds kTick(100);
/// How long frames are left to gather: a parent that wakes for each one disturbs what its child measures.
constexpr std::chrono::milliseconds kGather(5);
/// How much of a limit one look at the child may use up: what this process itself slept through, stopped by Ctrl-Z or
/// with the whole machine, is not the child's time.
constexpr std::chrono::duration<double> kMostOfALook(1);
/// How long a killed child is waited for. One that hangs in the system's own code stays, whatever it is sent.
constexpr std::chrono::seconds kMourning(10);
/// How long a child may take to send what it has after an interrupt: one batch, verification included.
constexpr std::chrono::seconds kGrace(3);
constexpr int kFreshProcess = 75;  // EX_TEMPFAIL: the child asks for a successor
constexpr int kNothingLeft = 76;   // and here it says that it needs none

enum class Frame : std::uint32_t { begin, message, end };

struct Header {
  Frame frame = Frame::begin;
  std::uint32_t bytes = 0;
  std::int64_t job = 0;
};

/// All at once where it can be: each write wakes the parent.
void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);  // nobody is listening any more
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string frame_bytes(Frame frame, std::int64_t job, std::string_view text = {}) {
  const Header header{frame, static_cast<std::uint32_t>(text.size()), job};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += text;
  return bytes;
}

[[noreturn]] void child_main(const Jobs& jobs, std::int64_t first, int fd, pid_t parent) {
  // A supervisor that is killed must not leave a benchmark running, nor one that was killed before this line.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  std::string ended;  // the frame of the job before, which is sent with the next one's
  AfterJob after = AfterJob::next;
  for (std::int64_t job = first; job < jobs.count && after == AfterJob::next && !interrupted(); ++job) {
    write_all(fd, ended + frame_bytes(Frame::begin, job));
    after = jobs.run(job, [&](std::string_view text) { write_all(fd, frame_bytes(Frame::message, job, text)); });
    ended = frame_bytes(Frame::end, job);
  }
  write_all(fd, ended);
  if (after == AfterJob::fresh_process) ::_exit(kFreshProcess);
  if (after == AfterJob::nothing_left) ::_exit(kNothingLeft);
  // Not exit(): destructors and buffers of the parent's image are not this process's to run or flush.
  ::_exit(0);
}

/// Those that the first thread has started, which supervises, or that orphans were given to; as far as the system
/// tells.
std::set<pid_t> children() {
  std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::set<pid_t> all;
  for (pid_t pid = 0; list >> pid;) all.insert(pid);
  return all;
}

/// What a child has started (a kernel of a suite may do anything) becomes this process's when the child ends, and ends
/// with it.
class Descendants {
 public:
  Descendants() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  void end() const noexcept try {
    // Theirs come up when they have gone. What hangs in the system's own code is left.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    for (bool any = true; any && std::chrono::steady_clock::now() < deadline;) {
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
  std::set<pid_t> before_ = children();
};

/// A forked child and the frames that come from it.
class Child {
 public:
  Child(const Jobs& jobs, std::int64_t first) : jobs_(jobs), next_(first) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(fmt::format("can't make a pipe: {}", std::strerror(errno)));
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      child_main(jobs, first, ends[1], parent);
    }
    const int error = errno;
    ::close(ends[1]);
    fd_ = ends[0];
    if (pid_ > 0) return;
    ::close(fd_);
    throw Error(fmt::format("can't start a process: {}", std::strerror(error)));
  }
  ~Child() {
    ::close(fd_);
    if (reaped_) return;
    signal(SIGKILL);
    reap(kMourning);
    descendants_.end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Waits a tick for frames and hands them on; false once nothing more will come.
  bool pump() {
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(kTick.count()));
    // What the child has started may hold its end of the pipe open for longer than it lives.
    if (ready == 0) return !ended();
    if (ready < 0) return true;
    std::this_thread::sleep_for(kGather);
    std::array<char, 65536> chunk;
    const ssize_t got = ::read(fd_, chunk.data(), chunk.size());
    if (got < 0) return errno == EINTR;
    if (got == 0) return false;
    pending_.append(chunk.data(), static_cast<std::size_t>(got));
    while (take_frame()) {
    }
    return true;
  }

  /// How the child ended, in words; empty when it ended as it should.
  std::string wait() {
    const std::optional<int> status = reap(kLastWords);
    descendants_.end();
    if (!status) return (stopped_.empty() ? "the process" : stopped_ + ", and its process") + std::string(kStays);
    if (!stopped_.empty()) return stopped_;
    if (WIFSIGNALED(*status)) {
      return fmt::format("the process was ended by signal {} ({})", WTERMSIG(*status), ::strsignal(WTERMSIG(*status)));
    }
    const int code = WEXITSTATUS(*status);
    nothing_left_ = code == kNothingLeft;
    const bool as_it_should = code == 0 || code == kFreshProcess || nothing_left_;
    return as_it_should ? "" : fmt::format("the process ended with exit code {}", code);
  }

  void signal(int number) const { ::kill(pid_, number); }
  std::int64_t next_job() const { return next_; }
  bool in_job() const { return in_job_; }
  bool nothing_left() const { return nothing_left_; }  ///< after wait()

  /// Kills it when its job has had its time, and says so; an endless kernel on a GPU ends with its process. False once
  /// there is no use in waiting for it any longer.
  bool keep_to_limit() {
    const auto now = Clock::now();
    const std::chrono::duration<double> look = now - last_look_;
    last_look_ = now;
    taken_ += std::min(look, kMostOfALook);
    if (!stopped_.empty()) return taken_ < kMourning;
    const std::optional<double> limit = jobs_.limit_s(std::min(next_, jobs_.count - 1));
    if (!limit || taken_.count() < *limit) return true;
    stopped_ = fmt::format("it was ended after {:g} s, the time limit", *limit);
    signal(SIGKILL);
    taken_ = {};
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr const char* kStays = " can't be ended: it hangs in the system's own code";
  /// How long a child that has closed its pipe may take to end: a large memory takes seconds to give back.
  static constexpr std::chrono::seconds kLastWords{60};

  bool ended() const {
    siginfo_t about = {};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid == pid_;
  }

  /// How it ended; nothing if it has not by then.
  std::optional<int> reap(std::chrono::seconds patience) {
    reaped_ = true;
    const auto deadline = Clock::now() + patience;
    for (std::chrono::milliseconds pause(1);; pause = std::min(2 * pause, kTick)) {
      int status = 0;
      const pid_t found = ::waitpid(pid_, &status, WNOHANG);
      if (found == pid_) return status;
      if ((found < 0 && errno != EINTR) || Clock::now() > deadline) return std::nullopt;
      std::this_thread::sleep_for(pause);
    }
  }

  bool take_frame() {
    if (pending_.size() < sizeof(Header)) return false;
    Header header;
    std::memcpy(&header, pending_.data(), sizeof header);
    if (pending_.size() < sizeof header + header.bytes) return false;
    const std::string text = pending_.substr(sizeof header, header.bytes);
    pending_.erase(0, sizeof header + header.bytes);
    in_job_ = header.frame != Frame::end;
    if (header.frame != Frame::message && stopped_.empty()) taken_ = {};
    next_ = header.job + (in_job_ ? 0 : 1);
    if (header.frame == Frame::message) jobs_.on_message(header.job, text);
    return true;
  }

  const Jobs& jobs_;
  Descendants descendants_;
  std::int64_t next_;
  pid_t pid_ = -1;
  int fd_ = -1;
  bool in_job_ = false;
  bool reaped_ = false;
  bool nothing_left_ = false;
  std::string pending_;
  Clock::time_point last_look_ = Clock::now();
  std::chrono::duration<double> taken_{};  ///< by the job, or since it was killed
  std::string stopped_;                    ///< why it was killed
};

/// Feeds on a child until it ends; true when an interrupt ended it.
bool follow(Child& child, const Jobs& jobs) {
  using Clock = std::chrono::steady_clock;
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
    const bool lost = child.in_job() || (!reason.empty() && child.next_job() == first);
    if (lost) jobs.on_lost(child.next_job(), reason.empty() ? "the process ended early" : reason);
    if (child.nothing_left()) return JobsEnd::finished;
    first = child.next_job() + (lost ? 1 : 0);
  }
  return JobsEnd::finished;
}

}  // namespace roofline
