// What the threads of a program did, sampled from outside many times a second. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample/code_samples.hpp"

namespace roofline {

/// What a thread did at the moment of a sample, according to the kernel.
enum class ThreadState : std::uint8_t {
  running,   ///< on a CPU
  runnable,  ///< ready, and no CPU was free
  gil,       ///< waits for Python's global interpreter lock
  lock,      ///< waits in a futex: a mutex, a condition variable, a join
  read,      ///< waits for data from a pipe, a FIFO or a terminal
  network,   ///< waits for a socket: in recv, connect, or a poll whose descriptors are sockets
  request,   ///< the same, of sockets that listen or were accepted: a server waits for its clients
  poll,      ///< waits in poll, select or epoll for something else
  disk,      ///< uninterruptible: file or swap input and output
  sleep,     ///< in nanosleep or a timer
  child,     ///< waits for a process to end
  gpu,       ///< in a call of the CUDA driver that waits for the GPU (ioctl, or spinning in libcuda)
  other      ///< waits in something else
};
inline bool on_cpu(ThreadState state) { return state == ThreadState::running || state == ThreadState::runnable; }
inline constexpr std::array kThreadStates = {
    ThreadState::running, ThreadState::runnable, ThreadState::gil,  ThreadState::lock, ThreadState::read,
    ThreadState::network, ThreadState::request,  ThreadState::poll, ThreadState::disk, ThreadState::sleep,
    ThreadState::child,   ThreadState::gpu,      ThreadState::other};
std::string_view to_string(ThreadState state);  ///< "running", "waits for the GIL"
std::string_view id_of(ThreadState state);      ///< "running", "gil": of documents
std::optional<ThreadState> parse_thread_state(std::string_view id);

struct HostFrame {
  std::string function;  ///< demangled; "[unknown]" if there is no symbol
  std::string file;      ///< source file of a Python frame and of native code with line tables; else the library
  int line = 0;          ///< 0: unknown
  bool python = false;
  bool own = false;  ///< the program's code: no file of the interpreter's library, of site-packages or of the system
  bool operator==(const HostFrame&) const = default;
};

struct HostThread {
  std::int64_t pid = 0, tid = 0;
  std::int64_t parent = 0;  ///< process id of the process that started its process
  std::string name;         ///< the kernel's
  std::string command;      ///< of its process
  bool main = false;        ///< the first thread of its process
};

struct HostSample {
  std::uint64_t time = 0;  ///< ns of CLOCK_MONOTONIC
  int thread = 0;          ///< index into HostSamples::threads
  int stack = -1;          ///< index into HostSamples::stacks; -1: unknown
  ThreadState state = ThreadState::running;
  int gil_holder = -1;  ///< of a wait for the GIL: the thread that held it; -1: unknown
  float seconds = 0;    ///< length of the interval that this sample stands for, which ends with it
  bool operator==(const HostSample&) const = default;
};

/// Memory of a process.
struct HostMemorySample {
  std::uint64_t time = 0;  ///< ns of CLOCK_MONOTONIC
  std::int64_t pid = 0;
  std::uint64_t resident = 0, shared = 0;  ///< bytes; `shared` with files or other processes, of `resident`
  bool operator==(const HostMemorySample&) const = default;
};

/// Resident memory of a process became more than ever before while one of its threads ran.
struct HostMemoryRise {
  std::uint64_t time = 0;
  int thread = 0;  ///< index into HostSamples::threads
  int stack = -1;  ///< index into HostSamples::stacks
  std::uint64_t bytes = 0;
  bool operator==(const HostMemoryRise&) const = default;
};

/// Samples by time. A stack is a list of indices into `frames`, innermost first; Python frames replace the
/// interpreter's native ones. What processes that were waited for used: CPU time in user code and in the kernel,
/// page faults, and how often threads slept (voluntary context switches; 0: unknown).
struct ProcessUsage {
  double user_s = 0, system_s = 0, page_faults = 0, sleeps = 0;

  double cpu_s() const { return user_s + system_s; }
  bool is_known() const { return cpu_s() > 0; }
};

struct HostSamples {
  std::vector<HostFrame> frames;
  std::vector<std::vector<int>> stacks;
  std::vector<HostThread> threads;
  std::vector<HostSample> samples;
  std::vector<HostMemorySample> memory;
  std::vector<HostMemoryRise> rises;
  CodeSamples code;                  ///< if requested
  std::uint64_t memory_bytes = 0;    ///< of the machine; 0: unknown
  double rate_hz = 0;                ///< measured samples per second of each thread
  double cost_s = 0;                 ///< CPU time of the sampler
  ProcessUsage usage;                ///< of the program's processes
  std::uint64_t start = 0, end = 0;  ///< of the sampled time
  std::string why_none;              ///< empty where there are samples
  std::string why_no_native;         ///< why running threads have no native frames; empty where they have
};

/// Adds the samples of another sampler of the same machine, without those of its instructions.
void append(HostSamples& to, HostSamples from);

}  // namespace roofline
