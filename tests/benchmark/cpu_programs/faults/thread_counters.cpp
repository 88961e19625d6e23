// Each thread counts the characters of its part in a counter of its own, next to those of the others.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
#ifdef FIXED
struct alignas(64) Counter {
#else
struct Counter {
#endif
  volatile long letters = 0, spaces = 0;
};
void count(const std::string& text, int passes, Counter& counter) {
  for (int p = 0; p < passes; ++p) {
    for (const char c : text) {
      if (c == ' ')
        counter.spaces = counter.spaces + 1;  // FAULT
      else
        counter.letters = counter.letters + 1;  // FAULT
    }
  }
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 2000;
  const std::string text(1000000, 'a');
  std::vector<Counter> counters(4);
  std::vector<std::thread> threads;
  for (Counter& counter : counters) threads.emplace_back(count, std::cref(text), passes, std::ref(counter));
  for (std::thread& thread : threads) thread.join();
  std::printf("%ld\n", counters[0].letters + counters[3].letters);
}
