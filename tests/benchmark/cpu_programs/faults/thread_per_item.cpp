// Starts two threads for each small piece of work.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
constexpr int kThreads = 2;
void part(std::vector<double>& values, int t) {
  const std::size_t half = values.size() / kThreads;
  for (std::size_t i = t * half; i < (t + 1) * half; ++i) values[i] = std::sqrt(values[i] + 1);
}
void step(std::vector<double>& values) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(part, std::ref(values), t);  // FAULT
  for (auto& thread : threads) thread.join();                                          // FAULT
}
int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 60000;
  std::vector<double> values(2000, 3.0);
#ifdef FIXED
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int s = 0; s < steps; ++s) part(values, t);
    });
  }
  for (auto& thread : threads) thread.join();
#else
  for (int s = 0; s < steps; ++s) step(values);
#endif
  std::printf("%g\n", values[5]);
}
