// Counts packets by flow in a table with open addressing whose hash keeps the low bits of the key; without the fault it
// mixes them all.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Flow {
  std::uint64_t key, packets;
};

constexpr unsigned kBits = 15;
constexpr std::uint64_t kMask = (1u << kBits) - 1;

static std::uint64_t slot_of(std::uint64_t key) {
#ifdef FIXED
  return (key * 0x9e3779b97f4a7c15u) >> (64 - kBits);
#else
  return key & kMask;
#endif
}

static Flow& flow_of(std::vector<Flow>& flows, std::uint64_t key) {
  std::uint64_t i = slot_of(key);
  while (flows[i].key != key && flows[i].key != 0) i = (i + 1) & kMask;
  return flows[i];
}

int main(int argc, char** argv) {
  const long packets = argc > 1 ? std::atol(argv[1]) : 4000000;
  std::vector<Flow> flows(kMask + 1);
  std::uint64_t state = 7;
  for (long i = 0; i < packets; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t host = 1 + (state >> 33) % 6000;
    const std::uint64_t key = host << 12 | 443;
    Flow& flow = flow_of(flows, key);
    flow.key = key;
    ++flow.packets;
  }
  std::uint64_t most = 0;
  for (const Flow& flow : flows)
    if (flow.packets > most) most = flow.packets;
  std::printf("%llu\n", static_cast<unsigned long long>(most));
}
