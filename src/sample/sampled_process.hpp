// A process that is sampled: its threads, its code, its interpreter.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/process.hpp"
#include "sample/code_modules.hpp"
#include "sample/host_samples.hpp"
#include "sample/native_stack.hpp"
#include "sample/proc_text.hpp"
#include "sample/python_process.hpp"
#include "sample/remote_memory.hpp"
#include "sample/thread_wait.hpp"

namespace roofline {

/// Native frames of a running thread and, if it runs Python, the Python frames of the same moment.
struct RunningStack {
  std::vector<CodePlace> native;
  std::optional<std::vector<PythonFrame>> python;
  bool kernel = false;  ///< it ran in the kernel
};

struct LastWait {
  std::uint64_t time = 0;  ///< at which it was seen there last, ns
  ThreadState state = ThreadState::other;
  int stack = -1;
  std::vector<PythonFrame> python = {};
};

struct SampledThread {
  SampledThread(pid_t process, pid_t thread);

  bool read_times(ThreadTimes& now) const;
  std::optional<BlockedCall> read_call() const;
  std::string name() const;

  pid_t pid, tid;
  int index = -1;  ///< in HostSamples::threads
  Descriptor times_file, call_file;

  ThreadTimes times;       ///< at its last sample
  std::uint64_t last = 0;  ///< when that was
  bool sampled = false, ended = false;
  int idle = 0;    ///< samples in a row in which it had not run
  int unread = 0;  ///< ticks in a row in which it was not looked at, because it is idle
  ThreadState state = ThreadState::other;
  int stack = -1, gil_holder = -1;
  bool has_python = false;              ///< `stack` has the Python frames of a wait
  int misses = 0;                       ///< waits in a row that were read again because they did not
  std::optional<RunningStack> running;  ///< the last one since it waited
  bool seen_running = false;            ///< `running` is newer than its last sample
  std::optional<RunningStack> fault;  ///< its last page fault since its last sample; only where the kernel is not seen
  std::int64_t unaccounted = 0;       ///< ns between samples in a row in which it neither ran nor was ready
  std::optional<LastWait> last_wait;
};

class SampledProcess {
 public:
  SampledProcess(pid_t pid, CodeModules& modules);

  /// Looks for new threads and for another program in the process. False: it has ended.
  bool refresh(std::uint64_t now);
  /// Its threads, the first one first.
  std::vector<pid_t> thread_ids() const;
  /// The processes that its threads have started; std::nullopt if the kernel does not list them.
  std::optional<std::vector<pid_t>> children() const;

  /// Resident memory and what of it is shared, in bytes; std::nullopt if the process has ended.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> read_memory();

  /// True if a thread has a state of the Python interpreter.
  bool runs_python(pid_t thread) const { return python != nullptr && python->has(thread); }
  /// What a blocked thread waits for.
  ThreadState state_of(const SampledThread& thread, const std::optional<BlockedCall>& call) const;
  /// True if a thread has ended and is only still listed: the first one of a process, until all others have ended too.
  bool has_ended(pid_t thread) const;
  /// The native frames of a thread that waits in a system call.
  std::vector<CodePlace> waiting_stack(const BlockedCall& call);

  pid_t pid;
  std::int64_t parent = 0;
  std::string command;
  RemoteMemory memory;
  ProcessCode code;
  std::unique_ptr<PythonProcess> python;
  std::map<pid_t, std::unique_ptr<SampledThread>> threads;
  std::uint64_t most_resident = 0;  ///< bytes, so far

 private:
  void read_threads();
  void look_for_python(std::uint64_t now, bool is_new_program);
  char state_letter(pid_t thread) const;
  DescriptorKind kind_of(int descriptor) const;
  DescriptorKind kind_of_socket(std::uint64_t inode) const;
  ThreadState state_of_poll(const BlockedCall& call) const;
  ThreadState state_of_select(const BlockedCall& call) const;
  ThreadState state_of_any(const std::vector<int>& descriptors) const;

  Descriptor memory_file_;
  std::string program_;  ///< what /proc/PID/exe links to
  std::uint64_t look_again_ = 0, patience_ = 0;
  mutable std::unordered_map<std::uint64_t, DescriptorKind> sockets_;  ///< by inode
};

}  // namespace roofline
