#include "host/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "host/files.hpp"
#include "model/error.hpp"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration)

namespace roofline {
namespace {

constexpr std::chrono::milliseconds kLongestPause(100);
constexpr int kCannotExecute = 127;

struct Header {
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;
  std::int64_t number = 0;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// In the child. Returns only where the program can't be executed.
void become(const Command& command, char** argv, char** environment) {
  if (command.own_group) ::setpgid(0, 0);
  if (command.ends_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const std::array<int, 3> redirected = {command.standard_input, command.standard_output, command.standard_error};
  for (int fd = 0; fd < 3; ++fd) {
    if (redirected[static_cast<std::size_t>(fd)] >= 0) ::dup2(redirected[static_cast<std::size_t>(fd)], fd);
  }
  if (command.traced) ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::execvpe(argv[0], argv, environment);
}

struct ProcessStat {
  pid_t parent = 0;
  std::uint64_t start = 0;  ///< clock ticks since boot
};

/// std::nullopt if there is no such process.
std::optional<ProcessStat> stat_of(pid_t pid) {
  const std::string text = text_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = text.rfind(')');  // names may hold blanks and brackets
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int kBetween = 17;  // proc_pid_stat(5): state and parent are fields 3 and 4, the start is 22
  ProcessStat stat;
  std::string skipped;
  fields >> skipped >> stat.parent;
  for (int i = 0; i < kBetween; ++i) fields >> skipped;
  if (!(fields >> stat.start)) return std::nullopt;
  return stat;
}

// As in the kernel, the same on all architectures; headers of older systems lack them.
constexpr long kPidfdSendSignal = 424, kPidfdOpen = 434;

}  // namespace

Channel Channel::pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(fmt::format("can't create a pipe: {}", std::strerror(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Channel Channel::sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(fmt::format("can't create a pair of sockets: {}", std::strerror(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool write_all(int fd, std::string_view bytes) {
  bool socket = true;
  while (!bytes.empty()) {
    // A socket whose other end is closed would raise SIGPIPE.
    const ssize_t written =
        socket ? ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) : ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == ENOTSOCK) {
      socket = false;
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Arrival read_some(int fd, std::string& bytes, std::chrono::milliseconds patience, std::chrono::milliseconds coalesce) {
  pollfd waiting{fd, POLLIN, 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
  if (ready == 0) return Arrival::none;
  if (ready < 0) return Arrival::interrupted;
  if (coalesce.count() > 0) std::this_thread::sleep_for(coalesce);
  std::array<char, 65536> chunk;
  const ssize_t got = ::read(fd, chunk.data(), chunk.size());
  if (got < 0) return errno == EINTR ? Arrival::interrupted : Arrival::closed;
  bytes.append(chunk.data(), static_cast<std::size_t>(got));
  return got > 0 ? Arrival::bytes : Arrival::closed;
}

std::string encode(std::uint32_t kind, std::int64_t number, std::string_view text) {
  const Header header{kind, static_cast<std::uint32_t>(text.size()), number};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += text;
  return bytes;
}

std::optional<Message> take_message(std::string& bytes) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() < sizeof header + header.bytes) return std::nullopt;
  Message message{header.kind, header.number, bytes.substr(sizeof header, header.bytes)};
  bytes.erase(0, sizeof header + header.bytes);
  return message;
}

Process Process::fork(const std::function<int()>& body) {
  Process process;
  const pid_t parent = ::getpid();
  process.pid_ = ::fork();
  if (process.pid_ == 0) {
    // A parent that is killed must not leave a benchmark running, nor one that was killed before this line.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int code = 1;
    try {
      if (::getppid() == parent) code = body();
    } catch (...) {  // nothing of the parent's may run in this process
    }
    // Not exit(): destructors and buffers of the parent's image are not this process's to run or flush.
    ::_exit(code);
  }
  if (process.pid_ < 0) throw Error(fmt::format("can't start a process: {}", std::strerror(errno)));
  return process;
}

Process Process::execute(const Command& command) {
  std::vector<std::string> words = command.argv;
  std::vector<std::string> variables = command.environment.value_or(std::vector<std::string>{});
  const std::vector<char*> argv = pointers(words), environment = pointers(variables);
  char** const passed = command.environment ? const_cast<char**>(environment.data()) : environ;
  Channel failure = Channel::pipe();
  Process process;
  process.own_group_ = command.own_group;
  process.pid_ = ::fork();
  if (process.pid_ == 0) {
    become(command, const_cast<char**>(argv.data()), passed);
    const int reason = errno;
    static_cast<void>(!::write(failure.child.get(), &reason, sizeof reason));
    ::_exit(kCannotExecute);
  }
  int reason = errno;
  if (process.pid_ > 0) {
    failure.child.close();
    ssize_t got = 0;
    while ((got = ::read(failure.parent.get(), &reason, sizeof reason)) < 0 && errno == EINTR) {
    }
    if (got != sizeof reason) return process;
    process.reap(kReapTimeout);
  }
  throw std::system_error(reason, std::generic_category());
}

Process::~Process() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  reap(kReapTimeout);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), own_group_(std::exchange(other.own_group_, false)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(own_group_, other.own_group_);
  return *this;
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(own_group_ ? -pid_ : pid_, number);
}

bool Process::ended() const {
  siginfo_t about = {};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid == pid_;
}

std::optional<int> Process::reap(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (std::chrono::milliseconds pause(1);; pause = std::min(2 * pause, kLongestPause)) {
    int status = 0;
    const pid_t found = ::waitpid(pid_, &status, WNOHANG);
    if (found == pid_) {
      pid_ = -1;
      return status;
    }
    if ((found < 0 && errno != EINTR) || std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

std::optional<ProcessIdentity> find_descendant(pid_t pid) {
  // A parent that ends on the way up leaves its children to another one: then the way is another.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::optional<ProcessStat> first = stat_of(pid);
    std::optional<ProcessStat> above = first;
    while (above && above->parent != ::getpid() && above->parent > 0) above = stat_of(above->parent);
    if (above) return above->parent > 0 ? std::optional(ProcessIdentity{pid, first->start}) : std::nullopt;
    if (!first) return std::nullopt;
  }
  return std::nullopt;
}

bool exists(const ProcessIdentity& process) {
  const std::optional<ProcessStat> now = stat_of(process.pid);
  return now && now->start == process.start;
}

bool send_signal(const ProcessIdentity& process, int number) {
  // What the handle means is checked once it is open, so the signal reaches no later process. Kernels before 5.3 and
  // some sandboxes have no handles.
  const Descriptor handle(static_cast<int>(::syscall(kPidfdOpen, process.pid, 0)));
  if (!exists(process)) return false;
  if (handle.get() < 0) return ::kill(process.pid, number) == 0;
  return ::syscall(kPidfdSendSignal, handle.get(), number, nullptr, 0) == 0;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void reap_orphans(const Process& except) {
  siginfo_t about = {};
  while (::waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid > 0 &&
         about.si_pid != except.pid()) {
    ::waitpid(about.si_pid, nullptr, 0);
    about = {};
  }
}

std::vector<pid_t> children() {
  std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> all;
  for (pid_t pid = 0; list >> pid;) all.push_back(pid);
  return all;
}

}  // namespace roofline
