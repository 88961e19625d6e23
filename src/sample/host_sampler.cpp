#include "sample/host_sampler.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "host/clock.hpp"
#include "sample/cpu_samples.hpp"
#include "sample/native_names.hpp"
#include "sample/native_stack.hpp"
#include "sample/process_family.hpp"
#include "sample/ready_time.hpp"
#include "sample/sample_builder.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kFamilyPeriod = kNsPerSecond / 10;
constexpr std::size_t kMostFrames = 128;
/// The sample of a thread that has not run is repeated; after kLongIdle in a row it is read in every tenth tick only.
constexpr int kLongIdle = 99, kIdleTicks = 10;
/// How often the frames of a waiting Python thread are looked for again: its interpreter, or the thread's state in it,
/// may have been unknown when it began to wait.
constexpr int kMostMisses = 20;
/// The kernel's clock interrupts running Python threads. While at most this many run, the sampler wakes up at each
/// interrupt, so that it reads Python frames at the same time as native ones. A wake-up costs about 10 us.
constexpr std::size_t kFewRunning = 2;
constexpr std::uint64_t kSameMoment = kNsPerSecond / 1000;
/// So long a thread that runs is assumed to block where it was last seen to wait.
constexpr std::uint64_t kSameWork = kNsPerSecond;

/// The C library and the loader: a thread that waits is in one of their functions; its state is the reason.
bool is_system_call_library(std::string_view path) {
  const std::string_view file = last_path_part(path);
  return file.starts_with("libc.") || file.starts_with("libc-") || file.starts_with("libpthread") ||
         file.starts_with("ld-linux") || file == "[vdso]";
}

}  // namespace

class HostSampler::Loop {
 public:
  Loop(pid_t root, const HostSamplerOptions& options)
      : options_(options),
        family_(root, modules_),
        period_(kNsPerSecond / static_cast<std::uint64_t>(options.rate_hz)) {
    start_ = clock_ns(CLOCK_MONOTONIC);
    // The main thread handles signals: it passes them on to the program.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this, root] { run(root); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Loop() { join(); }

  HostSamples stop() {
    join();
    HostSamples samples = builder_.finish(modules_);
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
      samples.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
    samples.start = start_;
    samples.end = end_;
    samples.cost_s = static_cast<double>(cost_) * 1e-9;
    const double seconds = static_cast<double>(end_ - start_) * 1e-9;
    samples.rate_hz = seconds > 0 ? static_cast<double>(ticks_) / seconds : 0;
    if (samples.samples.empty()) samples.why_none = "the program ended before its first sample";
    samples.why_no_native = why_no_native_;
    mark_gpu_waits(samples);
    return samples;
  }

 private:
  void join() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void run(pid_t root) {
    std::optional<CpuSampling> cpu, code, faults;
    refresh(start_);
    // A thread that starts before its parent is followed is not followed by itself: then all are opened again.
    constexpr int kMostAttempts = 5;
    for (int i = 0; i < kMostAttempts; ++i) {
      const std::vector<pid_t> threads = family_.threads_of(root);
      if (options_.code_rate_hz > 0) {
        code.emplace(threads, options_.code_rate_hz, CpuSampleContent::instruction);
        builder_.sample_code(1.0 / options_.code_rate_hz, code->why_not());
      }
      if (options_.native_stacks) cpu.emplace(threads, options_.rate_hz);
      // Without them, time of page faults would be at the lines that run before and after them.
      if (cpu && !cpu->sees_kernel()) faults.emplace(threads, options_.rate_hz, CpuSampleContent::fault);
      refresh(clock_ns(CLOCK_MONOTONIC));
      if (family_.threads_of(root).size() <= threads.size()) break;
    }
    if (cpu) why_no_native_ = cpu->why_not();
    if (!why_no_native_.empty()) cpu.reset();
    std::uint64_t next = start_ + period_, second = start_ + kNsPerSecond, cost = 0;
    while (!ended_) {
      wait_until(next, cpu ? &*cpu : nullptr);
      const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
      if (cpu) drain(*cpu);
      if (faults) drain_faults(*faults);
      if (code) drain_code(*code, now);
      if (now >= refreshed_ + kFamilyPeriod) refresh(now);
      tick(now);
      // A sampler that was late does not repeat the ticks that it missed.
      next = std::max(next + period_, now + period_ / 2);
      if (now < second) continue;
      const std::uint64_t total = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      limit_cost(total - cost);
      cost = total;
      second = now + kNsPerSecond;
    }
    end_ = clock_ns(CLOCK_MONOTONIC);
    if (code) drain_code(*code, end_);
    cost_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  }

  /// Samples less often if it used more than 2 % of a CPU in the last second, as with many busy threads; more where
  /// there are many CPUs, since jobs of several GPUs have more threads there.
  void limit_cost(std::uint64_t of_second) {
    constexpr std::uint64_t kSlowest = kNsPerSecond / 10;
    const std::uint64_t cpus = std::max(1U, std::thread::hardware_concurrency());
    const std::uint64_t most = kNsPerSecond / 50 * std::clamp<std::uint64_t>(cpus / 8, 1, 5), little = most / 2;
    const std::uint64_t usual = kNsPerSecond / static_cast<std::uint64_t>(options_.rate_hz) * thinned_;
    if (of_second > most) period_ = std::min(period_ * 3 / 2, std::max(kSlowest, usual));
    if (of_second < little) period_ = std::max(period_ * 2 / 3, usual);
  }

  void wait_until(std::uint64_t time, CpuSampling* cpu) {
    for (std::uint64_t now = clock_ns(CLOCK_MONOTONIC); now < time && !ended_; now = clock_ns(CLOCK_MONOTONIC)) {
      if (cpu == nullptr || running_python_ == 0 || running_python_ > kFewRunning) {
        const timespec until = {static_cast<time_t>(time / kNsPerSecond), static_cast<long>(time % kNsPerSecond)};
        ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
      } else if (cpu->wait(std::chrono::nanoseconds(time - now))) {
        drain(*cpu);
      }
    }
  }

  void refresh(std::uint64_t now) {
    refreshed_ = now;
    family_.refresh(now);
    for (const auto& [pid, process] : family_.processes()) {
      for (const auto& [tid, thread] : process->threads) {
        if (thread->index < 0) add_thread(*process, *thread, now);
      }
    }
    constexpr std::uint64_t kNames = 10;
    if (refreshes_++ % kNames == 0) refresh_names();
  }

  void add_thread(const SampledProcess& process, SampledThread& thread, std::uint64_t now) {
    HostThread told = {process.pid,   thread.tid,      process.parent,
                       thread.name(), process.command, thread.tid == process.pid};
    thread.index = builder_.add_thread(std::move(told));
    thread.last = now;
    thread.read_times(thread.times);
  }

  /// Programs name their threads, and replace themselves by exec(), after their start.
  void refresh_names() {
    for (const auto& [pid, process] : family_.processes()) {
      for (const auto& [tid, thread] : process->threads) {
        HostThread& told = builder_.thread(thread->index);
        if (std::string name = thread->name(); !name.empty()) told.name = std::move(name);
        if (!process->command.empty()) told.command = process->command;
      }
    }
  }

  // --- running threads

  void drain(CpuSampling& cpu) {
    cpu.drain([this](const CpuSample& sample) {
      SampledProcess* const process = family_.find(sample.pid);
      if (process == nullptr || !process->threads.contains(sample.tid)) {
        refreshed_ = 0;  // a new thread: look for it in the next tick
        return;
      }
      RunningStack running{native_stack(process->code, sample.registers, sample.stack, kMostFrames), {}, sample.kernel};
      if (process->runs_python(sample.tid) && clock_ns(CLOCK_MONOTONIC) < sample.time + kSameMoment) {
        running.python = process->python->frames(sample.tid);
      }
      SampledThread& thread = *process->threads.at(sample.tid);
      thread.running = std::move(running);
      thread.seen_running = true;
    });
  }

  void drain_faults(CpuSampling& faults) {
    faults.drain([this](const CpuSample& sample) {
      SampledProcess* const process = known_thread(sample);
      if (process == nullptr || process->runs_python(sample.tid)) return;
      process->threads.at(sample.tid)->fault =
          RunningStack{native_stack(process->code, sample.registers, sample.stack, kMostFrames), {}, true};
    });
  }

  void drain_code(CpuSampling& code, std::uint64_t now) {
    bool looked = false;
    code.drain([&](const CpuSample& sample) {
      SampledProcess* process = known_thread(sample);
      if (process == nullptr && !looked) {
        looked = true;
        refresh(now);
        process = known_thread(sample);
      }
      if (process == nullptr) return;
      builder_.add_code(sample.time, process->threads.at(sample.tid)->index,
                        process->code.locate(sample.registers.program_counter));
    });
  }

  SampledProcess* known_thread(const CpuSample& sample) const {
    SampledProcess* const process = family_.find(sample.pid);
    const bool known =
        process != nullptr && process->threads.contains(sample.tid) && process->threads.at(sample.tid)->index >= 0;
    return known ? process : nullptr;
  }

  /// The Python frames of a running thread; empty: none.
  static std::vector<PythonFrame> running_python(SampledProcess& process, const SampledThread& thread) {
    if (!process.runs_python(thread.tid)) return {};
    if (thread.seen_running && thread.running->python) return *thread.running->python;
    return process.python->frames(thread.tid).value_or(std::vector<PythonFrame>());
  }

  int running_stack(SampledProcess& process, const SampledThread& thread, const std::vector<PythonFrame>& python) {
    // Not every tick has an interrupt: a thread that still runs is assumed to be where it was at the last one.
    // Where the kernel is not seen, the clock's interrupt was in it if there is only a page fault.
    const std::optional<RunningStack>& last = thread.fault && !thread.seen_running ? thread.fault : thread.running;
    if (!process.runs_python(thread.tid)) return last ? stack_of(process, last->native, {}, last->kernel) : -1;
    // Native frames of another moment could be of another call: they are left out.
    const bool same_moment = thread.seen_running && thread.running->python;
    if (!same_moment) return stack_of(process, {}, python);
    return stack_of(process, thread.running->native, python, thread.running->kernel);
  }

  /// Whether a thread that runs, and blocked for a moment since its last sample, did so where it was seen to wait last.
  /// After a longer time it is only if it has not left these Python functions, as far as is known.
  static bool may_wait_again(const LastWait& wait, const std::vector<PythonFrame>& python, std::uint64_t now) {
    return now - wait.time <= kSameWork ||
           (!python.empty() && std::ranges::equal(python, wait.python, {}, &PythonFrame::code, &PythonFrame::code));
  }

  /// Without the interpreter's native frames, which the Python frames replace.
  int stack_of(SampledProcess& process, std::vector<CodePlace> native, const std::vector<PythonFrame>& python,
               bool kernel = false) {
    while (!native.empty() && process.code.modules()[native.back().module].has_interpreter()) native.pop_back();
    return builder_.stack(native, python, kernel);
  }

  // --- ticks

  void tick(std::uint64_t now) {
    ++ticks_;
    running_python_ = 0;
    for (const auto& [pid, process] : family_.processes()) {
      std::erase_if(process->threads,
                    [&, &process = process](const auto& thread) { return !sample(*process, *thread.second, now); });
      sample_memory(*process, now);
    }
  }

  /// Memory that a process has never had before belongs to its thread that runs.
  void sample_memory(SampledProcess& process, std::uint64_t now) {
    const auto memory = process.read_memory();
    if (!memory) return;
    const auto [resident, shared] = *memory;
    builder_.add(HostMemorySample{now, process.pid, resident, shared});
    constexpr std::uint64_t kNoticeable = 256 << 10;
    if (resident < process.most_resident + kNoticeable) return;
    const std::uint64_t more = resident - process.most_resident;
    process.most_resident = resident;
    const SampledThread* running = nullptr;
    for (const auto& [tid, thread] : process.threads) {
      const bool ran = thread->sampled && thread->last == now && thread->state == ThreadState::running;
      if (ran && (running == nullptr || tid == process.pid)) running = thread.get();
    }
    if (running != nullptr) builder_.add(HostMemoryRise{now, running->index, running->stack, more});
  }

  /// False: the thread has ended.
  bool sample(SampledProcess& process, SampledThread& thread, std::uint64_t now) {
    if (thread.index < 0 || thread.ended || now <= thread.last) return true;
    if (thread.idle > kLongIdle && ++thread.unread < kIdleTicks) return true;
    ThreadTimes times;
    if (!thread.read_times(times)) return false;
    const bool was_idle = thread.idle > kLongIdle;
    thread.unread = 0;
    const bool is_known = thread.has_python || !process.runs_python(thread.tid) || thread.misses >= kMostMisses;
    if (times == thread.times && !thread.seen_running && is_waiting(thread) && is_known) {
      // It has had no CPU since its last sample, so it still waits there.
      ++thread.idle;
      if (thread.last_wait) thread.last_wait->time = now;
      add(thread, thread.state, now, 1);
      return true;
    }
    if (was_idle) add(thread, thread.state, now - std::min(period_, now - thread.last), 1);
    thread.idle = 0;
    thread.gil_holder = -1;
    const std::optional<BlockedCall> call = thread.read_call();
    thread.ended = (!call || (!call->running && call->program_counter == 0)) && process.has_ended(thread.tid);
    if (thread.ended) return true;
    const ThreadState state = call && call->running ? ThreadState::running : process.state_of(thread, call);
    if (state == ThreadState::running) {
      add_running(process, thread, times, now);
    } else {
      add_waiting(process, thread, state, call, times.cpu - thread.times.cpu, now);
    }
    thread.times = times;
    thread.seen_running = false;
    thread.fault.reset();
    return true;
  }

  static bool is_waiting(const SampledThread& thread) {
    return thread.sampled && thread.state != ThreadState::running && thread.state != ThreadState::runnable;
  }

  void add_running(SampledProcess& process, SampledThread& thread, const ThreadTimes& times, std::uint64_t now) {
    if (process.runs_python(thread.tid)) ++running_python_;
    const std::uint64_t before = thread.last;
    const std::vector<PythonFrame> python = running_python(process, thread);
    const ReadyTime time = ready_time(now - before, thread.times, times, thread.seen_running, thread.unaccounted);
    const auto add_part = [&](ThreadState state, double part) {
      if (!(part > 0)) return;
      thread.last = before;
      add(thread, state, now, part);
    };
    if (time.blocked > 0) {
      const bool again = thread.last_wait && may_wait_again(*thread.last_wait, python, now);
      thread.stack = again ? thread.last_wait->stack : -1;
      add_part(again ? thread.last_wait->state : ThreadState::other, time.blocked);
    }
    thread.stack = running_stack(process, thread, python);
    thread.state = ThreadState::running;
    add_part(ThreadState::running, time.running);
    add_part(ThreadState::runnable, time.runnable);
    thread.last = now;
    thread.sampled = true;
  }

  void add_waiting(SampledProcess& process, SampledThread& thread, ThreadState state,
                   const std::optional<BlockedCall>& call, std::uint64_t used, std::uint64_t now) {
    thread.state = state;
    thread.running.reset();
    thread.has_python = false;
    if (thread.state == ThreadState::gil) {
      const std::optional<pid_t> holder = process.python->gil_holder();
      const auto found = holder ? process.threads.find(*holder) : process.threads.end();
      if (found != process.threads.end() && found->first != thread.tid) thread.gil_holder = found->second->index;
    }
    std::vector<CodePlace> native;
    if (call) native = process.waiting_stack(*call);
    std::vector<PythonFrame> python;
    if (process.runs_python(thread.tid)) {
      python = process.python->frames(thread.tid).value_or(std::vector<PythonFrame>());
      thread.has_python = !python.empty();
      thread.misses = thread.has_python ? 0 : thread.misses + 1;
    }
    const auto is_system_call = [&](const CodePlace& place) {
      const CodeModule& module = modules_[place.module];
      return module.has_interpreter() || is_system_call_library(module.path);
    };
    if (!python.empty() && std::ranges::all_of(native, is_system_call)) native.clear();
    thread.stack = stack_of(process, std::move(native), python);
    thread.last_wait = LastWait{now, thread.state, thread.stack, std::move(python)};
    thread.unaccounted = std::max<std::int64_t>(0, thread.unaccounted - static_cast<std::int64_t>(used));
    add(thread, thread.state, now, 1);
  }

  /// Adds a sample for a share of the time since the thread's last one.
  void add(SampledThread& thread, ThreadState state, std::uint64_t now, double share) {
    HostSample sample;
    sample.time = now;
    sample.thread = thread.index;
    sample.stack = thread.stack;
    sample.state = state;
    sample.gil_holder = state == ThreadState::gil ? thread.gil_holder : -1;
    sample.seconds = static_cast<float>(static_cast<double>(now - thread.last) * 1e-9 * share);
    thread.last = now;
    thread.sampled = true;
    if (!builder_.add(sample)) return;
    thinned_ *= 2;
    period_ *= 2;
  }

  /// A thread that runs in a function of the CUDA driver that returns only after the GPU waits for it, spinning.
  static void mark_gpu_waits(HostSamples& samples) {
    std::vector<bool> waits(samples.stacks.size(), false);
    for (std::size_t i = 0; i < waits.size(); ++i) {
      waits[i] = std::ranges::any_of(
          samples.stacks[i], [&](int frame) { return waits_for_gpu(samples.frames[static_cast<std::size_t>(frame)]); });
    }
    for (HostSample& sample : samples.samples) {
      const bool spins = sample.state == ThreadState::running && sample.stack >= 0;
      if (spins && waits[static_cast<std::size_t>(sample.stack)]) sample.state = ThreadState::gpu;
    }
  }

  HostSamplerOptions options_;
  CodeModules modules_;
  ProcessFamily family_;
  SampleBuilder builder_;
  std::atomic<bool> ended_ = false;
  std::uint64_t start_ = 0, end_ = 0, cost_ = 0, ticks_ = 0, period_, thinned_ = 1;
  std::uint64_t refreshed_ = 0, refreshes_ = 0;
  std::size_t running_python_ = 0;
  std::string why_no_native_;
  std::thread thread_;
};

HostSampler::HostSampler(pid_t root, const HostSamplerOptions& options)
    : loop_(std::make_unique<Loop>(root, options)) {}
HostSampler::~HostSampler() = default;
HostSamples HostSampler::stop() { return loop_->stop(); }

}  // namespace roofline
