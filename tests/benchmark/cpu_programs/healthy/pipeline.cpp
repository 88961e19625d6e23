// Reader and checker of records on two threads, joined by a bounded queue of large batches; balanced.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

using Batch = std::vector<std::uint64_t>;
static std::mutex mutex;
static std::condition_variable changed;
static std::deque<Batch> queue;
static bool finished;

static std::uint64_t rounds(std::uint64_t v, int count) {
  for (int i = 0; i < count; ++i) {
    v ^= v >> 31;
    v *= 0x7fb5d329728ea185ULL;
  }
  return v;
}

int main() {
  std::thread reader([] {
    for (int b = 0; b < 1500; ++b) {
      Batch batch(20000);
      for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = rounds(b * 1000003ULL + i, 100);
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [] { return queue.size() < 16; });
      queue.push_back(std::move(batch));
      changed.notify_one();
    }
    std::lock_guard<std::mutex> lock(mutex);
    finished = true;
    changed.notify_one();
  });
  std::uint64_t check = 0;
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [] { return !queue.empty() || finished; });
    if (queue.empty()) break;
    Batch batch = std::move(queue.front());
    queue.pop_front();
    changed.notify_one();
    lock.unlock();
    for (auto v : batch) check ^= rounds(v, 100);
  }
  reader.join();
  std::printf("%llx\n", (unsigned long long)check);
}
