// Attention on AMX: all threads pack keys and values into tiles, then each takes blocks of queries
// (attention_amx.amx.cpp).
#include "kernels/attention/attention_amx.hpp"

#include <algorithm>

#include "device/cpu/amx.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/attention/query_blocks.hpp"
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
  static_assert(kTiledQueries == kQueryBlock);
  return [=, &pool = cpu.pool(), chunks = std::make_shared<ChunkCounter>()](std::span<void* const> tensors) {
    const std::int64_t key_blocks = ceil_div(e.keys, kTiledKeys);
    pool.for_chunks(e.kv_heads() * key_blocks, 1, 1, [&](std::int64_t begin, std::int64_t end) {
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
    for_query_blocks(pool, *chunks, e, [&](int worker, std::int64_t head, std::int64_t first, std::int64_t last) {
      const std::int64_t at = (head * e.queries + first) * e.d;
      if constexpr (kAmxIsBuilt)
        amx_attention<Isa::avx512>(elements<const T>(tensors, 0) + at, packed[0] + head / e.group * head_size, e.keys,
                                   elements<T>(tensors, 3) + at, workspaces[worker], last - first, e.keys_of(last - 1),
                                   e.d, e.causal);
    });
  };
}

const ImplementationRegistrar kRegistrar(
    "attention",
    {{.name = "amx",
      .summary = "all threads, blocks of scores in AMX tiles, online softmax in fp32; keys packed once per head",
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
