// A worker computes blocks; the main thread looks every 20 ms whether the next one is there, and only then gives
// another.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
std::atomic<int> requested{0}, finished{0};
std::atomic<bool> stop{false};
std::mutex mutex;
std::condition_variable changed;
double result = 0;
void worker() {
  while (!stop) {
#ifdef FIXED
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return stop || finished < requested; });
    if (stop) return;
    lock.unlock();
#else
    if (finished == requested) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // FAULT
      continue;
    }
#endif
    double sum = 0;
    for (int i = 1; i < 400000; ++i) sum += std::sqrt(i * 1.5) / i;
    result += sum;
    const std::lock_guard lock2(mutex);
    ++finished;
    changed.notify_all();
  }
}
void wait_for_block() {
#ifdef FIXED
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return finished == requested; });
#else
  while (finished < requested) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // FAULT
#endif
}
int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 250;
  std::thread thread(worker);
  for (int b = 0; b < blocks; ++b) {
    {
      const std::lock_guard lock(mutex);
      ++requested;
    }
    changed.notify_all();
    wait_for_block();
  }
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  changed.notify_all();
  thread.join();
  std::printf("%g\n", result);
}
