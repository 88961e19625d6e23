// Attention's rung on AMX, the last one of the ladder: keys and values are brought into tiles by all threads, then each
// takes blocks of queries, by attention_amx.amx.cpp.
#include "kernels/attention/attention_amx.hpp"

#include <algorithm>

#include "device/cpu/amx.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "op/registry.hpp"

#if defined(__x86_64__)
namespace roofline {
namespace {

template <typename T>
Kernel prepare_attention_as(const Workload& w, CpuDevice& cpu) {
  const Attended e = attended(w);
  const std::int64_t head_size = head_tiles(e.keys, e.d);
  const Workspace<Tile> packed(cpu, e.kv_heads() * head_size, 1);
  const Workspace<Tile> workspaces(cpu, tiled_attention_workspace(e.d), cpu.pool().size());
  return [=, &pool = cpu.pool()](std::span<void* const> tensors) {
    const std::int64_t key_blocks = ceil_div(e.keys, kTiledKeys);
    pool.for_range(e.kv_heads() * key_blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t head = block / key_blocks;
        const std::int64_t first = block % key_blocks * kTiledKeys;
        const std::int64_t at = (head * e.keys + first) * e.d;
        if constexpr (kAmxIsBuilt)
          amx_pack_head<Isa::avx512>(elements<const T>(tensors, 1) + at, elements<const T>(tensors, 2) + at,
                                     std::min(kTiledKeys, e.keys - first), e.d,
                                     packed[0] + head * head_size + head_tiles(first, e.d));
      }
    });
    const std::int64_t query_blocks = ceil_div(e.queries, kTiledQueries);
    pool.run([&](int worker) {
      // Dealt out forwards and backwards in turn, as in attention.cpp.
      for (std::int64_t round = 0; round * pool.size() < e.heads * query_blocks; ++round) {
        const std::int64_t block = round * pool.size() + (round % 2 == 0 ? worker : pool.size() - 1 - worker);
        if (block >= e.heads * query_blocks) break;
        const std::int64_t head = block / query_blocks;
        const std::int64_t first = block % query_blocks * kTiledQueries;
        const std::int64_t last = std::min(first + kTiledQueries, e.queries);
        const std::int64_t at = (head * e.queries + first) * e.d;
        if constexpr (kAmxIsBuilt)
          amx_attention<Isa::avx512>(elements<const T>(tensors, 0) + at, packed[0] + head / e.group * head_size, e.keys,
                                     elements<T>(tensors, 3) + at, workspaces[worker], last - first,
                                     e.keys_of(last - 1), e.d, e.causal);
      }
    });
  };
}

const ImplementationRegistrar kRegistrar(
    "attention",
    {{.name = "amx",
      .summary =
          "all threads, blocks of scores on tiles of AMX, online softmax in fp32 between; keys packed once a head",
      .dtypes = {DType::fp16, DType::bf16},
      .unsupported = [](const Workload& w, const Device& device) { return amx_missing(w.dtype, as_cpu(device).isa()); },
      .prepare =
          [](const Workload& w, Device& device) {
            return w.dtype == DType::fp16 ? prepare_attention_as<Fp16>(w, as_cpu(device))
                                          : prepare_attention_as<Bf16>(w, as_cpu(device));
          }}});

}  // namespace
}  // namespace roofline
#endif
