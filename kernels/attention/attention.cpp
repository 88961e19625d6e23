// Attention, forward: O = softmax(Q K^T / sqrt(d)) V per head, with or without a causal mask. Work model, reference
// and CPU implementations; the CUDA ones are in attention.cu.
//   naive  all threads, one query at a time: its scores, their softmax, the weighted sum of V's rows
//   fused  all threads, blocks of queries × keys, products in register tiles, online softmax
//   dots   as fused, in bf16 without widening, on CPUs with AVX512_BF16
//   amx    as fused, in 16 bits on AMX tiles, in attention_amx.cpp
#include "kernels/attention/attention.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/attention/grouped_heads.hpp"
#include "kernels/attention/query_blocks.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Attention final : public GroupedHeadsOp {
 public:
  Attention() : GroupedHeadsOp("Q", "O") {}

  std::string_view name() const override { return "attention"; }
  std::string_view summary() const override { return "O = softmax(Q K^T / sqrt(d)) V for each head"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "batch", .meaning = "sequences", .default_value = 1},
            {.name = "heads", .meaning = "heads per sequence", .default_value = 16},
            {.name = "seq", .meaning = "queries and keys per head", .default_value = 2048},
            {.name = "head_dim", .meaning = "elements of a query, key or value vector", .default_value = 128},
            {.name = "causal", .meaning = "1: causal mask", .default_value = 0, .minimum = 0, .maximum = 1},
            kv_heads_parameter()};
  }

  /// A row of d outputs takes two products of seq × d and seq exponentials (16 operations each).
  double reference_cost(const Workload& w) const override {
    const auto seq = static_cast<double>(w.shape["seq"]);
    return 4 * seq + 16 * seq / static_cast<double>(w.shape["head_dim"]);
  }
  std::int64_t reference_run(const Workload& w) const override { return kQueryBlock * w.shape["head_dim"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override {
    const Attended e = attended(w);
    auto edges = matrix_edges(e.queries, e.d);
    const auto last = matrix_edges(e.queries, e.d, (e.heads - 1) * e.queries * e.d);
    edges.insert(edges.end(), last.begin(), last.end());
    return edges;
  }

  Tolerance tolerance(const Workload& w) const override;
  std::vector<Implementation> implementations() const override;
  std::vector<Shape> test_shapes(DeviceKind device) const override;

 private:
  Attended extents(const Workload& w) const override { return attended(w); }
  Pipe products(const Workload& w, DeviceKind device) const override { return matrix_pipe(w.dtype, device); }
};

/// Outputs are means of seq values with standard deviation 0.58 and weights e^±1, which gives 0.6 / sqrt(seq).
/// Roundings: those of the sums over d and seq, and 8 of the exponential. Weights rounded to the operand type for
/// the second product have independent errors of u each: 5.7 standard deviations of 0.6 u, relative to the output.
/// Under a causal mask the first queries see few keys. From 16 keys on the same holds with 16 for seq; below, 4 u
/// of 0.6 / sqrt(16) still cover weights whose errors are all equal.
Tolerance Attention::tolerance(const Workload& w) const {
  const auto seq = static_cast<double>(w.shape["seq"]);
  const auto d = static_cast<double>(w.shape["head_dim"]);
  const double fewest = attended(w).causal ? std::min(seq, 16.0) : seq;
  Tolerance tolerance = storage_tolerance(w.dtype, 0.6 / std::sqrt(fewest), 8 + std::sqrt(seq) + std::sqrt(d));
  if (w.dtype != DType::fp64) tolerance.relative += 4 * operand_roundoff(w.dtype);
  return tolerance;
}

template <typename T, typename Factor>
Kernel fused_kernel(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  const auto pack = with_isa(cpu.isa(), []<Isa isa>() { return &pack_keys<isa, T, Factor>; });
  const auto rows = with_isa(cpu.isa(), []<Isa isa>() { return &attention_rows<isa, T, Factor>; });
  const Attended e = attended(w);
  const std::int64_t key_blocks = (e.keys + kKeyBlock - 1) / kKeyBlock;
  const std::int64_t packed = packed_block<Factor>(e.d);
  const Workspace<Factor> heads(cpu, key_blocks * packed, e.kv_heads());
  const Workspace<Summed<Factor>> workspaces(cpu, attention_workspace(e.d), cpu.pool().size());
  return [=, &pool = cpu.pool(), chunks = std::make_shared<ChunkCounter>()](std::span<void* const> tensors) {
    pool.for_chunks(e.kv_heads() * key_blocks, 1, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t first = block % key_blocks * kKeyBlock;
        const std::int64_t at = (block / key_blocks * e.keys + first) * e.d;
        pack(elements<T>(tensors, 1) + at, elements<T>(tensors, 2) + at, std::min(kKeyBlock, e.keys - first), e.d,
             heads[block / key_blocks] + block % key_blocks * packed);
      }
    });
    for_query_blocks(pool, *chunks, e, [&](int worker, std::int64_t head, std::int64_t first, std::int64_t last) {
      const std::int64_t at = (head * e.queries + first) * e.d;
      rows(elements<T>(tensors, 0) + at, heads[head / e.group], elements<T>(tensors, 3) + at, workspaces[worker],
           last - first, e.keys_of(last - 1), e.d, e.causal);
    });
  };
}

Kernel prepare_fused(const Workload& w, Device& device) {
  return with_element_type(w.dtype, [&]<typename T>() { return fused_kernel<T, Computed<T>>(w, device); });
}

/// Packed keys and values, written once and read once if caches do not hold them.
template <typename Factor>
Traffic packed_keys(const Workload& w) {
  const Attended e = attended(w);
  const double blocks = std::ceil(static_cast<double>(e.keys) / static_cast<double>(kKeyBlock));
  const double bytes =
      static_cast<double>(e.kv_heads() * packed_block<Factor>(e.d)) * blocks * static_cast<double>(sizeof(Factor));
  return {.read = bytes, .write = bytes};
}

std::vector<Implementation> Attention::implementations() const {
  return {
      naive_implementation("all threads, one query at a time"),
      {.name = "fused",
       .summary = "all threads, blocks of scores in register tiles, online softmax; the score matrix is never stored",
       .dtypes = cpu_dtypes(),
       .extra_traffic =
           [](const Workload& w) { return w.dtype == DType::fp64 ? packed_keys<double>(w) : packed_keys<float>(w); },
       .prepare = prepare_fused},
      {.name = "dots",
       .summary = "as fused, with bf16 dot products; softmax weights are rounded to bf16",
       .dtypes = {DType::bf16},
       .unsupported = dots_missing,
       .extra_traffic = packed_keys<Bf16Pair>,
       .prepare = fused_kernel<Bf16, Bf16Pair>}};
}

std::vector<Shape> Attention::test_shapes(DeviceKind device) const {
  if (device == DeviceKind::cpu) {
    return {{{"batch", 1}, {"heads", 1}, {"seq", 1}, {"head_dim", 1}},
            {{"batch", 2}, {"heads", 3}, {"seq", 67}, {"head_dim", 19}},
            {{"batch", 1}, {"heads", 2}, {"seq", 1100}, {"head_dim", 64}},
            {{"batch", 2}, {"heads", 4}, {"seq", 67}, {"head_dim", 19}, {"kv_heads", 2}},
            {{"batch", 1}, {"heads", 2}, {"seq", 700}, {"head_dim", 16}, {"causal", 1}},
            {{"batch", 1}, {"heads", 6}, {"seq", 131}, {"head_dim", 8}, {"causal", 1}, {"kv_heads", 1}}};
  }
  return {{{"batch", 1}, {"heads", 1}, {"seq", 1}, {"head_dim", 64}},
          {{"batch", 1}, {"heads", 2}, {"seq", 77}, {"head_dim", 128}},
          {{"batch", 2}, {"heads", 3}, {"seq", 129}, {"head_dim", 64}},
          {{"batch", 1}, {"heads", 2}, {"seq", 200}, {"head_dim", 80}},
          {{"batch", 1}, {"heads", 1}, {"seq", 65}, {"head_dim", 8}},
          {{"batch", 2}, {"heads", 4}, {"seq", 512}, {"head_dim", 128}},
          {{"batch", 1}, {"heads", 2}, {"seq", 1}, {"head_dim", 128}, {"causal", 1}},
          {{"batch", 2}, {"heads", 6}, {"seq", 77}, {"head_dim", 64}, {"kv_heads", 2}},
          {{"batch", 2}, {"heads", 3}, {"seq", 129}, {"head_dim", 64}, {"causal", 1}},
          {{"batch", 1}, {"heads", 4}, {"seq", 333}, {"head_dim", 72}, {"causal", 1}, {"kv_heads", 1}},
          {{"batch", 1}, {"heads", 40}, {"seq", 1027}, {"head_dim", 64}, {"causal", 1}, {"kv_heads", 8}},
          {{"batch", 1}, {"heads", 36}, {"seq", 1100}, {"head_dim", 128}, {"causal", 1}},
          {{"batch", 1}, {"heads", 1}, {"seq", 8200}, {"head_dim", 128}, {"causal", 1}}};
}

const OpRegistrar kRegistrar(std::make_unique<Attention>());

}  // namespace

Attended attended(const Workload& workload) {
  const Shape& shape = workload.shape;
  const std::int64_t seq = shape["seq"];
  return {.heads = shape["batch"] * shape["heads"],
          .group = group_of(shape),
          .queries = seq,
          .keys = seq,
          .d = shape["head_dim"],
          .causal = shape.contains("causal") && shape["causal"] != 0};
}

}  // namespace roofline
