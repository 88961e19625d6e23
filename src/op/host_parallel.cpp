// Short-lived threads that fetch chunks from a shared counter. They request every CPU of the process, because a
// thread inherits its creator's affinity, and the creator may be a kernel's pinned worker 0.
#include "op/host_parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace roofline {
namespace {

#ifdef __linux__
struct StartAffinity {
  cpu_set_t cpus;
  int count = 0;

  StartAffinity() {
    CPU_ZERO(&cpus);
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) count = CPU_COUNT(&cpus);
  }
};

const StartAffinity& start_affinity() {
  static const StartAffinity affinity;
  return affinity;
}

// Read before main, and so before any pinning.
[[maybe_unused]] const int kCpusAtStart = start_affinity().count;

int cpus_at_start() { return start_affinity().count; }

void leave_inherited_affinity() {
  const auto& start = start_affinity();
  if (start.count > 0) pthread_setaffinity_np(pthread_self(), sizeof start.cpus, &start.cpus);
}
#else
int cpus_at_start() { return 0; }
void leave_inherited_affinity() {}
#endif

}  // namespace

int host_threads() {
  static const int threads = [] {
    const int hardware = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return cpus_at_start() > 0 ? cpus_at_start() : hardware;
  }();
  return threads;
}

void host_parallel(std::int64_t count, std::int64_t chunk,
                   const std::function<void(std::int64_t begin, std::int64_t end)>& work) {
  if (count <= 0) return;
  std::atomic<std::int64_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto take_chunks = [&] {
    try {
      for (std::int64_t begin = next.fetch_add(chunk); begin < count; begin = next.fetch_add(chunk)) {
        work(begin, std::min(begin + chunk, count));
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  if (chunks == 1) {
    take_chunks();
  } else {
    std::vector<std::jthread> threads;
    const auto wanted = std::min<std::int64_t>(host_threads(), chunks);
    for (std::int64_t i = 0; i < wanted; ++i) {
      threads.emplace_back([&] {
        leave_inherited_affinity();
        take_chunks();
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace roofline
