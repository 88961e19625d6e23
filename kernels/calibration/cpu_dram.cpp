// The DRAM ceilings of the CPU: read, write, copy and triad over arrays that exceed the last-level cache
// four times. Bytes are the compulsory ones: where a store first reads the line it overwrites, that is a
// cost of the variant and not part of the work.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu_stream.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kGrain = 4096;
// Virtual machines may show a slice of the last-level cache that they share: never less than that in all.
constexpr double kLeastWorkingSet = 128.0 * (1 << 20);
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;  // word i holds i·kOdd: no two alike, sum in closed form
constexpr double kTriadFactor = 3;

int arrays_of(Pattern pattern) { return pattern == Pattern::triad ? 3 : pattern == Pattern::copy ? 2 : 1; }

/// Arrays for one probe, in one buffer each so that every array is first touched in its users' shares.
struct Arrays {
  std::int64_t bytes = 0;  // of each
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::atomic<std::uint64_t> sum{0};   // of the last read
  std::atomic<std::uint64_t> runs{0};  // written by the last write: no run leaves what the one before left

  std::uint64_t* words(std::size_t array) const { return static_cast<std::uint64_t*>(buffers[array]->data()); }
  double* doubles(std::size_t array) const { return static_cast<double*>(buffers[array]->data()); }
};

std::int64_t array_bytes(CpuDevice& cpu, int arrays, double scale) {
  const double wanted = std::max(4 * cpu.last_level_cache_bytes(), kLeastWorkingSet) * scale;
  const double total = std::min(wanted, cpu.free_memory_bytes() / 2);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(total / arrays + kGrain - 1) / kGrain) * kGrain;
}

std::shared_ptr<Arrays> make_arrays(CpuDevice& cpu, Pattern pattern, double scale) {
  auto arrays = std::make_shared<Arrays>();
  arrays->bytes = array_bytes(cpu, arrays_of(pattern), scale);
  for (int array = 0; array < arrays_of(pattern); ++array) {
    arrays->buffers.push_back(cpu.allocate(static_cast<std::size_t>(arrays->bytes)));
  }
  // Array 0 is the output, where there is one; read has only an input.
  const std::size_t first_input = pattern == Pattern::read ? 0 : 1;
  cpu.pool().for_range(arrays->bytes / 8, kGrain / 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t array = first_input; array < arrays->buffers.size(); ++array) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (pattern == Pattern::triad) {  // whole numbers: exact with one rounding or with two
          arrays->doubles(array)[i] = static_cast<double>(array == 1 ? i : 2 * i + 1);
        } else {
          arrays->words(array)[i] = static_cast<std::uint64_t>(i) * kOdd;
        }
      }
    }
  });
  return arrays;
}

/// What the last run must have left in word i of the output.
std::uint64_t expected_word(const Arrays& arrays, Pattern pattern, StoreKind store, std::int64_t i) {
  if (pattern == Pattern::copy) return static_cast<std::uint64_t>(i) * kOdd;
  const std::uint64_t runs = arrays.runs.load();
  return store == StoreKind::string ? (runs & 0xff) * 0x0101010101010101ULL : runs;
}

std::optional<std::string> check_read(const Arrays& arrays) {
  const auto words = static_cast<std::uint64_t>(arrays.bytes / 8);
  const std::uint64_t expected = kOdd * (words / 2 * (words - 1));  // 0 + 1 + … + (words - 1); words is even
  if (arrays.sum.load() == expected) return std::nullopt;
  return fmt::format("sum {:#x} instead of {:#x}", arrays.sum.load(), expected);
}

std::optional<std::string> check_output(const Arrays& arrays, Pattern pattern, StoreKind store, ThreadPool& pool) {
  std::atomic<std::int64_t> wrong{-1};
  pool.for_range(arrays.bytes / 8, kGrain / 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const bool right = pattern == Pattern::triad ? arrays.doubles(0)[i] == static_cast<double>(i + 3 * (2 * i + 1))
                                                   : arrays.words(0)[i] == expected_word(arrays, pattern, store, i);
      if (!right) wrong.store(i);
    }
  });
  if (wrong.load() < 0) return std::nullopt;
  return fmt::format("word {} of the output is wrong", wrong.load());
}

/// One worker's share, at byte `begin`.
template <Isa isa>
void stream(Pattern pattern, StoreKind store, bool prefetch, Arrays& arrays, std::int64_t begin, std::int64_t bytes) {
  const std::int64_t word = begin / 8;
  switch (pattern) {
    case Pattern::read:
      arrays.sum += prefetch ? stream_read_prefetched<isa>(arrays.words(0) + word, bytes, 1)
                             : stream_read<isa>(arrays.words(0) + word, bytes, 1);
      break;
    case Pattern::write:
      stream_write<isa>(store, arrays.words(0) + word, bytes, arrays.runs.load(std::memory_order_relaxed));
      break;
    case Pattern::copy:
      stream_copy<isa>(store, arrays.words(0) + word, arrays.words(1) + word, bytes);
      break;
    default:
      stream_triad<isa>(store, arrays.doubles(0) + word, arrays.doubles(1) + word, arrays.doubles(2) + word,
                        kTriadFactor, bytes);
  }
}

struct Variant {
  StoreKind store = StoreKind::regular;
  bool prefetch = false;
  const char* name = "";
};

/// The likely winner first: quick takes only that one.
std::vector<Variant> variants_of(Pattern pattern) {
  if (pattern == Pattern::read) {
    return {{StoreKind::regular, false, "plain loads"}, {StoreKind::regular, true, "loads with prefetch"}};
  }
  std::vector<Variant> variants = {{StoreKind::regular, false, "regular stores"}};
#if defined(__x86_64__)
  variants.insert(variants.begin(), {StoreKind::non_temporal, false, "non-temporal stores"});
  if (pattern != Pattern::triad) variants.push_back({StoreKind::string, false, "string instructions"});
#endif
  return variants;
}

Traffic traffic_of(Pattern pattern, double bytes) {
  if (pattern == Pattern::read) return {bytes, 0};
  if (pattern == Pattern::write) return {0, bytes};
  return {bytes * (arrays_of(pattern) - 1), bytes};
}

std::optional<ProbeCase> make(Pattern pattern, Device& device, const ProbeRequest& request, int index) {
  const std::vector<Variant> variants = variants_of(pattern);
  if (index >= static_cast<int>(request.quick ? 1 : variants.size())) return std::nullopt;
  const Variant variant = variants[static_cast<std::size_t>(index)];
  CpuDevice& cpu = as_cpu(device);
  ThreadPool& pool = cpu.pool();
  const std::shared_ptr<Arrays> arrays = make_arrays(cpu, pattern, request.scale);

  ProbeCase probe;
  probe.variant = fmt::format("{}, {}, {} threads", to_string(cpu.isa()), variant.name, pool.size());
  probe.working_set_bytes = static_cast<double>(arrays->bytes) * arrays_of(pattern);
  probe.amount = probe.working_set_bytes;
  probe.work.bytes[Level::dram] = traffic_of(pattern, static_cast<double>(arrays->bytes));
  probe.run = [=, &pool, isa = cpu.isa()] {
    arrays->sum = 0;
    ++arrays->runs;
    pool.for_range(arrays->bytes, kGrain, [&](std::int64_t begin, std::int64_t end) {
      with_isa(isa, [&]<Isa level>() {
        stream<level>(pattern, variant.store, variant.prefetch, *arrays, begin, end - begin);
      });
    });
  };
  probe.verify = [=, &pool]() -> std::optional<std::string> {
    if (pattern == Pattern::read) return check_read(*arrays);
    return check_output(*arrays, pattern, variant.store, pool);
  };
  return probe;
}

Probe dram_probe(Pattern pattern) {
  Probe probe;
  probe.name = fmt::format("dram.{}", to_string(pattern));
  probe.device = DeviceKind::cpu;
  probe.kind = CeilingKind::bandwidth;
  probe.level = Level::dram;
  probe.pattern = pattern;
  probe.make = [pattern](Device& device, const ProbeRequest& request, int variant) {
    return make(pattern, device, request, variant);
  };
  // No limit: nothing on a CPU says, without privileges, how many channels of what memory there are.
  return probe;
}

const ProbeRegistrar kRegistrar({dram_probe(Pattern::read), dram_probe(Pattern::write), dram_probe(Pattern::copy),
                                 dram_probe(Pattern::triad)});

}  // namespace
}  // namespace roofline
