// A histogram that all threads add to with atomic operations.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
constexpr int kBins = 16, kThreads = 2;
std::atomic<long> bins[kBins];
void add(const std::vector<unsigned char>& values, int passes) {
  long own[kBins] = {};
  for (int p = 0; p < passes; ++p) {
    for (const unsigned char value : values) {
#ifdef FIXED
      ++own[value % kBins];
#else
      bins[value % kBins].fetch_add(1);  // FAULT
#endif
    }
  }
  for (int b = 0; b < kBins; ++b) bins[b] += own[b];
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 500;
  std::vector<unsigned char> values(1000000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned char>(i * 2654435761u >> 24);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(add, std::cref(values), passes);
  for (auto& thread : threads) thread.join();
  std::printf("%ld\n", bins[3].load());
}
