#include "sample/sampled_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "sample/proc_files.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kFirstPatience = 100'000'000, kLastPatience = 10'000'000'000;
constexpr std::size_t kMostThreadsSampled = 8192;

Descriptor open_task_file(pid_t pid, pid_t tid, const char* name) {
  return Descriptor(::open(fmt::format("/proc/{}/task/{}/{}", pid, tid, name).c_str(), O_RDONLY | O_CLOEXEC));
}

/// The arguments with blanks between them.
std::string command_of(pid_t pid) {
  constexpr std::size_t kMost = 4096;
  std::string command = read_proc(fmt::format("/proc/{}/cmdline", pid));
  command.resize(std::min(command.size(), kMost));
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return command;
}

}  // namespace

SampledThread::SampledThread(pid_t process, pid_t thread)
    : pid(process),
      tid(thread),
      times_file(open_task_file(process, thread, "schedstat")),
      call_file(open_task_file(process, thread, "syscall")) {}

bool SampledThread::read_times(ThreadTimes& now) const {
  std::array<char, 128> text;
  const ssize_t size = ::pread(times_file.get(), text.data(), text.size(), 0);
  const auto read =
      size > 0 ? parse_thread_times({text.data(), static_cast<std::size_t>(size)}) : std::optional<ThreadTimes>();
  if (read) now = *read;
  return read.has_value();
}

std::optional<BlockedCall> SampledThread::read_call() const {
  std::array<char, 256> text;
  const ssize_t size = ::pread(call_file.get(), text.data(), text.size(), 0);
  return size > 0 ? parse_blocked_call({text.data(), static_cast<std::size_t>(size)}) : std::nullopt;
}

std::string SampledThread::name() const {
  std::string name = read_proc(fmt::format("/proc/{}/task/{}/comm", pid, tid));
  return name.substr(0, name.find('\n'));
}

SampledProcess::SampledProcess(pid_t id, CodeModules& modules) : pid(id), memory(id), code(id, modules) {}

bool SampledProcess::refresh(std::uint64_t now) {
  struct stat tasks = {};
  if (::stat(fmt::format("/proc/{}/task", pid).c_str(), &tasks) != 0) return false;
  constexpr std::uint64_t kOwnLinks = 2;  // of a folder without subfolders; each thread adds one
  if (tasks.st_nlink != threads.size() + kOwnLinks) read_threads();
  const std::string program = read_proc_link(fmt::format("/proc/{}/exe", pid));
  const bool is_new = program != program_;
  if (is_new) {
    program_ = program;
    command = command_of(pid);
    if (const auto stat = parse_thread_stat(read_proc(fmt::format("/proc/{}/stat", pid)))) parent = stat->parent;
    code.reload();
    python.reset();
  }
  look_for_python(now, is_new);
  if (python == nullptr) return true;
  python->find_threads(thread_ids());
  return true;
}

std::vector<pid_t> SampledProcess::thread_ids() const {
  std::vector<pid_t> ids = {pid};  // of the first thread, which may be larger than those of others
  for (const auto& [id, thread] : threads) {
    if (id != pid) ids.push_back(id);
  }
  return ids;
}

/// The interpreter may be loaded long after the program's start, so it is looked for again, less and less often.
void SampledProcess::look_for_python(std::uint64_t now, bool is_new_program) {
  if (is_new_program) {
    look_again_ = now;
    patience_ = kFirstPatience;
  }
  if (python != nullptr || now < look_again_) return;
  if (!is_new_program) code.reload();
  python = PythonProcess::find(pid, code);
  look_again_ = now + patience_;
  patience_ = std::min(2 * patience_, kLastPatience);
}

void SampledProcess::read_threads() {
  for (const pid_t id : list_proc_ids(fmt::format("/proc/{}/task", pid))) {
    if (threads.contains(id) || threads.size() >= kMostThreadsSampled) continue;
    threads.emplace(id, std::make_unique<SampledThread>(pid, id));
  }
}

std::optional<std::vector<pid_t>> SampledProcess::children() const {
  std::vector<pid_t> all;
  for (const auto& [id, thread] : threads) {
    const std::string path = fmt::format("/proc/{}/task/{}/children", pid, id);
    if (id == pid && ::access(path.c_str(), R_OK) != 0) return std::nullopt;
    for (const std::int64_t child : parse_ids(read_proc(path))) all.push_back(static_cast<pid_t>(child));
  }
  return all;
}

bool SampledProcess::has_ended(pid_t thread) const {
  const char letter = state_letter(thread);
  return letter == 'Z' || letter == 'X';
}

char SampledProcess::state_letter(pid_t thread) const {
  const auto stat = parse_thread_stat(read_proc(fmt::format("/proc/{}/task/{}/stat", pid, thread)));
  return stat ? stat->state : '?';
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> SampledProcess::read_memory() {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (memory_file_.get() < 0) {
    memory_file_ = Descriptor(::open(fmt::format("/proc/{}/statm", pid).c_str(), O_RDONLY | O_CLOEXEC));
  }
  std::array<char, 128> text;
  const ssize_t size = ::pread(memory_file_.get(), text.data(), text.size() - 1, 0);
  if (size <= 0) return std::nullopt;
  text.at(static_cast<std::size_t>(size)) = '\0';
  unsigned long long whole = 0, resident = 0, shared = 0;
  if (std::sscanf(text.data(), "%llu %llu %llu", &whole, &resident, &shared) != 3) return std::nullopt;
  return std::pair(resident * page, std::min(resident, shared) * page);
}

ThreadState SampledProcess::state_of(const SampledThread& thread, const std::optional<BlockedCall>& call) const {
  if (!call) {  // another user's process, or a kernel without this file
    const char letter = state_letter(thread.tid);
    if (letter == 'R') return ThreadState::running;
    if (letter == 'D') return ThreadState::disk;
    return state_of_kernel_function(read_proc(fmt::format("/proc/{}/task/{}/wchan", pid, thread.tid)));
  }
  const auto descriptor = static_cast<int>(call->arguments[0]);
  switch (system_call_kind(call->number)) {
    case SystemCallKind::futex:
      return python != nullptr && python->is_gil(call->arguments[0]) ? ThreadState::gil : ThreadState::lock;
    case SystemCallKind::read:
    case SystemCallKind::socket:
      return waits_for(kind_of(descriptor), false);
    case SystemCallKind::poll:
      return state_of_poll(*call);
    case SystemCallKind::select:
      return state_of_select(*call);
    case SystemCallKind::epoll:
      return state_of_any(parse_epoll_targets(read_proc(fmt::format("/proc/{}/fdinfo/{}", pid, descriptor))));
    case SystemCallKind::sleep:
      return ThreadState::sleep;
    case SystemCallKind::child:
      return ThreadState::child;
    case SystemCallKind::ioctl:
      return waits_for(kind_of(descriptor), true) == ThreadState::gpu ? ThreadState::gpu : ThreadState::other;
    case SystemCallKind::file:
      return ThreadState::disk;
    case SystemCallKind::other:
      break;
  }
  return state_letter(thread.tid) == 'D' ? ThreadState::disk : ThreadState::other;
}

ThreadState SampledProcess::state_of_poll(const BlockedCall& call) const {
  constexpr std::uint64_t kMost = 64;
  const std::uint64_t count = call.arguments[1];
  if (count == 0) return ThreadState::sleep;
  std::vector<pollfd> polled(std::min(count, kMost));
  if (!memory.read(call.arguments[0], polled.data(), polled.size() * sizeof(pollfd))) return ThreadState::poll;
  std::vector<int> descriptors;
  for (const pollfd& one : polled) {
    if (one.fd >= 0) descriptors.push_back(one.fd);
  }
  return state_of_any(descriptors);
}

ThreadState SampledProcess::state_of_select(const BlockedCall& call) const {
  constexpr std::uint64_t kBits = 64, kMost = 1024;
  const std::uint64_t count = std::min(call.arguments[0], kMost);
  if (count == 0) return ThreadState::sleep;
  std::array<std::uint64_t, kMost / kBits> set = {};
  std::vector<int> descriptors;
  for (const std::uint64_t address : {call.arguments[1], call.arguments[2]}) {
    if (address == 0 || !memory.read(address, set.data(), (count + kBits - 1) / kBits * sizeof(std::uint64_t)))
      continue;
    for (std::uint64_t i = 0; i < count; ++i) {
      if ((set[i / kBits] >> (i % kBits) & 1U) != 0) descriptors.push_back(static_cast<int>(i));
    }
  }
  // The kernel clears the sets of the caller only when it returns.
  return descriptors.empty() ? ThreadState::sleep : state_of_any(descriptors);
}

/// A GPU decides, then a socket, of a client before that of a server, then a pipe: event loops also poll descriptors of
/// their own.
ThreadState SampledProcess::state_of_any(const std::vector<int>& descriptors) const {
  constexpr std::size_t kMost = 64;
  bool pipe = false, network = false, request = false, gpu = false;
  for (std::size_t i = 0; i < std::min(descriptors.size(), kMost); ++i) {
    const ThreadState state = waits_for(kind_of(descriptors[i]), true);
    pipe |= state == ThreadState::read;
    network |= state == ThreadState::network;
    request |= state == ThreadState::request;
    gpu |= state == ThreadState::gpu;
  }
  if (gpu) return ThreadState::gpu;
  if (network) return ThreadState::network;
  if (request) return ThreadState::request;
  return pipe ? ThreadState::read : ThreadState::poll;
}

DescriptorKind SampledProcess::kind_of(int descriptor) const {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, descriptor);
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return descriptor_kind(read_proc_link(path));
  if (S_ISFIFO(status.st_mode)) return DescriptorKind::pipe;
  if (S_ISREG(status.st_mode)) return DescriptorKind::file;
  const DescriptorKind kind = descriptor_kind(read_proc_link(path));
  return kind == DescriptorKind::network_socket ? kind_of_socket(status.st_ino) : kind;
}

DescriptorKind SampledProcess::kind_of_socket(std::uint64_t inode) const {
  constexpr std::size_t kMostSockets = 65536;
  if (const auto known = sockets_.find(inode); known != sockets_.end()) return known->second;
  if (sockets_.size() > kMostSockets) sockets_.clear();
  const auto table = [this](std::string_view name) { return read_proc(fmt::format("/proc/{}/net/{}", pid, name)); };
  DescriptorKind kind = DescriptorKind::network_socket;
  if (table("unix").find(fmt::format(" {}", inode)) != std::string::npos) {
    kind = DescriptorKind::local_socket;
  } else if (serves_requests(table("tcp") + table("tcp6"), inode)) {
    kind = DescriptorKind::server_socket;
  }
  return sockets_[inode] = kind;
}

std::vector<CodePlace> SampledProcess::waiting_stack(const BlockedCall& call) {
  constexpr std::size_t kStack = 16384, kMostFrames = 128;
  if (call.stack_pointer == 0) return {};
  std::string stack(kStack, '\0');
  stack.resize(memory.read_some(call.stack_pointer, stack.data(), stack.size()));
  return native_stack(code, {call.program_counter, call.stack_pointer, std::nullopt, std::nullopt}, stack, kMostFrames);
}

}  // namespace roofline
