// Transfers between accounts, all of them under one lock.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>
constexpr int kAccounts = 4096, kThreads = 4;
std::vector<double> balance(kAccounts, 100);
std::vector<std::mutex> locks(kAccounts);
std::mutex bank;
double fee(unsigned seed) {
  double x = 1 + seed % 7;
  for (int i = 0; i < 400; ++i) x = x * 0.5 + 1 / x;
  return x;
}
void transfers(unsigned seed, int count) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const unsigned from = (seed >> 8) % kAccounts, to = (seed >> 20) % kAccounts;
#ifdef FIXED
    const double amount = fee(seed);
    if (from == to) continue;
    const std::scoped_lock lock(locks[from], locks[to]);
#else
    const std::lock_guard<std::mutex> lock(bank);  // FAULT
    const double amount = fee(seed);
#endif
    balance[from] -= amount;
    balance[to] += amount;
  }
}
int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 600000;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) threads.emplace_back(transfers, t + 1, count);
  for (auto& thread : threads) thread.join();
  std::printf("%g\n", balance[7]);
}
