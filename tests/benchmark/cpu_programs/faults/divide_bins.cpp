// Assigns keys to the shards of a cluster whose size is known at run time only.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void assign(const std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& load, std::uint64_t shards) {
#ifdef FIXED
  for (std::uint64_t key : keys) load[(unsigned __int128)key * shards >> 64]++;
#else
  for (std::uint64_t key : keys) load[key % shards]++;
#endif
}

int main(int argc, char** argv) {
  const std::uint64_t shards = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 211;
  const int passes = argc > 2 ? std::atoi(argv[2]) : 9000;
  std::vector<std::uint64_t> keys(200000);
  std::uint64_t state = 88172645463325252ULL;
  for (auto& key : keys) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    key = state;
  }
  std::vector<std::uint32_t> load(shards);
  for (int pass = 0; pass < passes; ++pass) assign(keys, load, shards);
  std::uint32_t most = 0;
  for (auto l : load) most = l > most ? l : most;
  std::printf("fullest shard: %u\n", most);
}
