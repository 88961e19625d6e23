// Two threads make keys; their parts are then joined and sorted in the main thread.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

static std::uint64_t mix(std::uint64_t v) {
  v ^= v >> 33;
  v *= 0xff51afd7ed558ccdULL;
  v ^= v >> 33;
  v *= 0xc4ceb9fe1a85ec53ULL;
  return v ^ (v >> 33);
}

static void produce(std::vector<std::uint64_t>& part, std::uint64_t first, int count) {
  for (int i = 0; i < count; ++i) {
    std::uint64_t v = first + i;
    for (int round = 0; round < 10; ++round) v = mix(v + round);
    part[i] = v;
  }
#ifdef FIXED
  std::sort(part.begin(), part.end());
#endif
}

int main() {
  const int half = 4000000;
  std::uint64_t check = 0;
  for (int batch = 0; batch < 5; ++batch) {
    std::vector<std::uint64_t> low(half), high(half);
    std::thread a(produce, std::ref(low), batch * 1000000007ULL, half);
    std::thread b(produce, std::ref(high), batch * 1000000007ULL + half, half);
    a.join();
    b.join();
    std::vector<std::uint64_t> all(2 * std::size_t(half));
#ifdef FIXED
    std::merge(low.begin(), low.end(), high.begin(), high.end(), all.begin());
#else
    std::copy(low.begin(), low.end(), all.begin());
    std::copy(high.begin(), high.end(), all.begin() + half);
    std::sort(all.begin(), all.end());
#endif
    check ^= all[half] + all.back();
  }
  std::printf("%llx\n", (unsigned long long)check);
}
