// Draws numbers, sorts them once and reports quantiles.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<std::uint32_t> values(50000000);
  std::uint64_t state = 42;
  for (auto& v : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    v = state >> 32;
  }
  std::sort(values.begin(), values.end());
  std::printf("%u %u %u\n", values[values.size() / 4], values[values.size() / 2], values[values.size() * 3 / 4]);
}
