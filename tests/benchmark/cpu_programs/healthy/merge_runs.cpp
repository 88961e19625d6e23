// Sorts with the standard library, one half per thread, and merges.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 8;
  std::mt19937 random(1);
  std::vector<unsigned> values(8'000'000);
  for (unsigned& value : values) value = random();
  long sum = 0;
  for (int p = 0; p < passes; ++p) {
    std::vector<unsigned> sorted = values;
    const auto middle = sorted.begin() + sorted.size() / 2;
    std::thread other([&] { std::sort(sorted.begin(), middle); });
    std::sort(middle, sorted.end());
    other.join();
    std::inplace_merge(sorted.begin(), middle, sorted.end());
    sum += sorted[p];
  }
  std::printf("%ld\n", sum);
}
