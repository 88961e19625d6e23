// The barrier of the pool: waiters spin for some microseconds, then sleep on a futex (std::atomic::wait).
#include "device/cpu/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>
#include <thread>
#include <utility>

#include "model/error.hpp"

namespace roofline {
namespace {

// A launch follows the one before within a few microseconds, and waking a sleeper costs 5 to 50 of them:
// spinning that long keeps a dispatch near one microsecond. A core that others want is given up after it.
constexpr std::chrono::nanoseconds kSpinTime = std::chrono::microseconds(50);
// What is left of it after waits that were all long, as they are on a busy machine: two launches back to back are
// still seen, and one short wait restores it.
constexpr std::chrono::nanoseconds kLeastSpin = std::chrono::microseconds(3);

// One counter for all workers would pass its cache line from core to core once for each of them.
constexpr int kGroupSize = 8;
constexpr std::size_t kLine = 64;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // some ten nanoseconds; yield, which few cores heed, none
#endif
}

/// One waiting thread, which spins no longer than has paid off of late.
class Waiter {
 public:
  explicit Waiter(bool spins) : spins_(spins) {}

  /// Waits until `value` is no longer `old`.
  void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    if (!spins_) return sleep(value, old);
    const auto start = Clock::now();
    do {
      for (int i = 0; i < 32; ++i) {
        if (value.load(std::memory_order_acquire) != old) {
          spin_ = kSpinTime;
          return;
        }
        relax();
      }
    } while (Clock::now() - start < spin_);
    sleep(value, old);
    // Short in spite of the sleep, which may last 100 µs longer where the core had gone to sleep as well.
    spin_ = Clock::now() - start < 4 * kSpinTime ? kSpinTime : std::max(spin_ / 2, kLeastSpin);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static void sleep(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
  }

  bool spins_;
  std::chrono::nanoseconds spin_ = kSpinTime;
};

void restrict_this_thread(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0) return;
    CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  // Where pinning is not allowed (a sandbox), the kernel places the thread: slower perhaps, never wrong.
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

void pin_this_thread(int cpu) { restrict_this_thread({cpu}); }

/// More runnable threads than CPUs: a spinning waiter would hold the CPU that the awaited one needs.
bool oversubscribed(std::size_t workers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return workers > std::thread::hardware_concurrency();
  return workers > static_cast<std::size_t>(CPU_COUNT(&set));
}

/// CPU time of the calling thread, seconds.
double thread_cpu_s() {
  timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct alignas(kLine) Line {
  std::atomic<std::uint32_t> value{0};
};

}  // namespace

struct ThreadPool::State {
  // Each on a line of its own, and first, so that the alignment leaves no holes between the others.
  Line epoch;          // number of regions started: workers wait for it to change
  Line finished;       // number of regions that all workers have left: the caller waits for it
  Line groups_inside;  // groups with workers still inside
  const std::function<void(int)>* work = nullptr;
  Waiter caller;  // the thread in run(), which holds `busy`
  std::vector<int> cpus;
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> failures;
  std::vector<double>* cpu_time = nullptr;  // of record_cpu_time(): changed between regions only
  std::vector<Line> groups;                 // workers of a group still inside
  WorkQueue queue;                          // of the current region, if for_chunks() started it
  bool spin;
  bool caller_is_pinned = false;  // to worker 0's CPU, by a PinnedCaller
  std::atomic<bool> stop{false};
  std::atomic<bool> busy{false};

  State(const std::vector<int>& the_cpus, bool spins)
      : caller(spins),
        cpus(the_cpus),
        groups((the_cpus.size() - 1 + kGroupSize - 1) / kGroupSize),
        queue(static_cast<int>(the_cpus.size())),
        spin(spins) {
    failures.resize(the_cpus.size());
  }

  int size() const { return static_cast<int>(cpus.size()); }

  void work_on(int worker) {
    const double begin = cpu_time != nullptr ? thread_cpu_s() : 0;
    try {
      (*work)(worker);
    } catch (...) {
      failures[static_cast<std::size_t>(worker)] = std::current_exception();
    }
    if (cpu_time != nullptr) (*cpu_time)[static_cast<std::size_t>(worker)] += thread_cpu_s() - begin;
  }

  void leave(int worker, std::uint32_t region) {
    Line& group = groups[static_cast<std::size_t>((worker - 1) / kGroupSize)];
    if (group.value.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (groups_inside.value.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    finished.value.exchange(region);
    finished.value.notify_one();
  }

  void serve(int worker) {
    pin_this_thread(cpus[static_cast<std::size_t>(worker)]);
    Waiter waiter(spin);
    for (std::uint32_t region = 0;;) {
      waiter.await_change(epoch.value, region);
      ++region;
      if (stop.load(std::memory_order_relaxed)) return;
      work_on(worker);
      leave(worker, region);
    }
  }

  void start_region() {
    const int workers = size() - 1;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const int first = static_cast<int>(g) * kGroupSize;
      groups[g].value.store(static_cast<std::uint32_t>(std::min(kGroupSize, workers - first)),
                            std::memory_order_relaxed);
    }
    groups_inside.value.store(static_cast<std::uint32_t>(groups.size()), std::memory_order_relaxed);
    // Sequentially consistent, as is the exchange in leave(): notify then reads whether anyone sleeps, and
    // must not do so before the new value is visible, or a waiter would sleep through it.
    epoch.value.fetch_add(1);
    epoch.value.notify_all();
  }

  void end_threads() {
    stop.store(true, std::memory_order_relaxed);
    epoch.value.fetch_add(1);
    epoch.value.notify_all();
    for (std::thread& thread : threads) thread.join();
  }
};

ThreadPool::ThreadPool(const std::vector<int>& cpus) {
  if (cpus.empty()) throw Error("a thread pool needs at least one worker");
  state_ = std::make_unique<State>(cpus, !oversubscribed(cpus.size()));
  State& state = *state_;
  try {
    for (int worker = 1; worker < state.size(); ++worker) {
      state.threads.emplace_back([&state, worker] { state.serve(worker); });
    }
  } catch (const std::system_error& error) {
    state.end_threads();
    throw Error("can't start " + std::to_string(cpus.size()) + " threads: " + error.what(), "use fewer --threads");
  }
}

ThreadPool::~ThreadPool() { state_->end_threads(); }

int ThreadPool::size() const { return state_->size(); }

void ThreadPool::record_cpu_time(std::vector<double>* seconds) { state_->cpu_time = seconds; }

void ThreadPool::run(const std::function<void(int worker)>& work) {
  run(work, [] {});
}

template <typename Prepare>
void ThreadPool::run(const std::function<void(int worker)>& work, Prepare prepare) {
  State& state = *state_;
  if (state.busy.exchange(true, std::memory_order_acquire)) {
    throw Error("a parallel region was started within another one");
  }
  prepare();
  state.work = &work;
  if (state.size() > 1) {
    const std::uint32_t before = state.finished.value.load(std::memory_order_relaxed);
    state.start_region();
    state.work_on(0);
    state.caller.await_change(state.finished.value, before);
  } else {
    state.work_on(0);
  }
  std::exception_ptr first;
  for (std::exception_ptr& failure : state.failures) {
    if (failure && !first) first = failure;
    failure = nullptr;
  }
  state.busy.store(false, std::memory_order_release);
  if (first) std::rethrow_exception(first);
}

void ThreadPool::for_range(std::int64_t count, std::int64_t grain,
                           const std::function<void(std::int64_t begin, std::int64_t end)>& work) {
  // One pointer fits into std::function's own storage: no allocation for a launch.
  struct Split {
    std::int64_t count, grain;
    int workers;
    const std::function<void(std::int64_t, std::int64_t)>& work;
  };
  const Split split{count, grain, size(), work};
  run([&split](int worker) {
    const auto [begin, end] = static_partition(split.count, split.grain, worker, split.workers);
    if (begin < end) split.work(begin, end);
  });
}

void ThreadPool::for_chunks(std::int64_t count, std::int64_t grain, std::int64_t min_chunk,
                            const std::function<void(std::int64_t begin, std::int64_t end)>& work) {
  struct Split {
    WorkQueue& queue;
    const std::function<void(std::int64_t, std::int64_t)>& work;
  };
  const Split split{state_->queue, work};
  run([&split](int worker) { split.queue.drain(worker, split.work); },
      [&] { split.queue.reset(count, grain, min_chunk); });
}

void ThreadPool::open_caller() const {
  if (!state_->caller_is_pinned) return;
  restrict_this_thread(state_->cpus);
  state_->caller_is_pinned = false;
}

struct ThreadPool::PinnedCaller::Saved {
  cpu_set_t set;
  bool was_pinned = false;
};

ThreadPool::PinnedCaller::PinnedCaller(const ThreadPool& pool) : pool_(pool) {
  const int cpu = pool.state_->cpus.front();
  if (cpu < 0) return;
  auto saved = std::make_unique<Saved>();
  CPU_ZERO(&saved->set);
  if (pthread_getaffinity_np(pthread_self(), sizeof saved->set, &saved->set) != 0) return;
  pin_this_thread(cpu);
  saved->was_pinned = std::exchange(pool.state_->caller_is_pinned, true);
  saved_ = std::move(saved);
}

ThreadPool::PinnedCaller::~PinnedCaller() {
  if (!saved_) return;
  pthread_setaffinity_np(pthread_self(), sizeof saved_->set, &saved_->set);
  pool_.state_->caller_is_pinned = saved_->was_pinned;
}

}  // namespace roofline
