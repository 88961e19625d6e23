// A consumer that asks in a loop whether the next block is there; without the fault it waits on the atomic.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
static std::atomic<int> produced{0}, consumed{0};
static double block[4096], total;
static int blocks = 20000;
static void wait_until(std::atomic<int>& counter, int value) {
#ifdef FIXED
  for (int seen; (seen = counter.load()) < value;) counter.wait(seen);
#else
  while (counter.load(std::memory_order_acquire) < value) {
  }
#endif
}
static void consume() {
  for (int b = 1; b <= blocks; ++b) {
    wait_until(produced, b);
    for (double v : block) total += v;
    consumed = b;
    consumed.notify_one();
  }
}
int main(int argc, char** argv) {
  if (argc > 1) blocks = std::atoi(argv[1]);
  std::thread consumer(consume);
  for (int b = 1; b <= blocks; ++b) {
    for (int i = 0; i < 4096; ++i) {
      double s = i;
      for (int k = 0; k < 25; ++k) s = s * 0.999 + b;
      block[i] = s;
    }
    produced = b;
    produced.notify_one();
    wait_until(consumed, b);
  }
  consumer.join();
  std::printf("%g\n", total);
}
