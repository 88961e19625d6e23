// Two workers take pieces of work from a queue; the lock is held for a moment only.
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
std::mutex mutex;
std::condition_variable ready;
std::queue<int> pieces;
bool done = false;
double total = 0;
void work() {
  double sum = 0;
  while (true) {
    std::unique_lock lock(mutex);
    ready.wait(lock, [] { return done || !pieces.empty(); });
    if (pieces.empty()) break;
    const int piece = pieces.front();
    pieces.pop();
    lock.unlock();
    float part[16] = {};
    for (int i = 0; i < 400000; ++i)
      for (int k = 0; k < 16; ++k) part[k] = part[k] * 0.999f + 0.001f * (float)(piece + k);
    for (const float p : part) sum += p;
  }
  const std::lock_guard lock(mutex);
  total += sum;
}
int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 4000;
  std::vector<std::thread> workers;
  for (int t = 0; t < 2; ++t) workers.emplace_back(work);
  for (int i = 0; i < count; ++i) {
    const std::lock_guard lock(mutex);
    pieces.push(i);
    ready.notify_one();
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  ready.notify_all();
  for (auto& worker : workers) worker.join();
  std::printf("%g\n", total);
}
