// Two workers ask for the "difficulty" of seeds; results are cached.
#include <cmath>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

static std::mutex cache_mutex;
static std::unordered_map<int, double> cache;

static double simulate(int seed) {
  double x = 0.1 + seed * 1e-7, sum = 0;
  for (int i = 0; i < 260000; ++i) {
    x = 3.9 * x * (1 - x);
    sum += std::sqrt(x);
  }
  return sum;
}

static double difficulty(int seed) {
#ifdef FIXED
  {
    std::lock_guard<std::mutex> lock(cache_mutex);
    auto found = cache.find(seed);
    if (found != cache.end()) return found->second;
  }
  double value = simulate(seed);
  std::lock_guard<std::mutex> lock(cache_mutex);
  cache.emplace(seed, value);
  return value;
#else
  std::lock_guard<std::mutex> lock(cache_mutex);
  auto found = cache.find(seed);
  if (found != cache.end()) return found->second;
  double value = simulate(seed);
  cache.emplace(seed, value);
  return value;
#endif
}

int main() {
  std::vector<double> sums(2 * 16);
  std::vector<std::thread> workers;
  for (int w = 0; w < 2; ++w)
    workers.emplace_back([w, &sums] {
      double sum = 0;
      for (int i = 0; i < 3000; ++i) sum += difficulty(w * 100000 + i * 7 % 2500);
      sums[w * 16] = sum;
    });
  for (auto& worker : workers) worker.join();
  std::printf("%.3f\n", sums[0] + sums[16]);
}
