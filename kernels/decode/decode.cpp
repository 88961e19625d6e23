// Decode attention: one query per head against a long cache of keys and values, o = softmax(q K^T / sqrt(d)) V.
// Every key and value is read for few operations, so memory is the limit. Work model, reference and CPU
// implementations; the CUDA ones are in decode.cu.
//   naive  all threads, one head at a time
//   split  vectors; the context is split, and each part is read once for all heads that share it
#include "kernels/decode/decode.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/attention/grouped_heads.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Decode final : public GroupedHeadsOp {
 public:
  Decode() : GroupedHeadsOp("q", "o") {}

  std::string_view name() const override { return "decode"; }
  std::string_view summary() const override { return "o = softmax(q K^T / sqrt(d)) V, one query per head"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "batch", .meaning = "sequences, each with its own KV cache", .default_value = 16},
            {.name = "heads", .meaning = "heads per sequence", .default_value = 32},
            {.name = "context", .meaning = "keys and values per head", .default_value = 8192},
            {.name = "head_dim", .meaning = "elements of a query, key or value vector", .default_value = 128},
            kv_heads_parameter()};
  }

  /// A row of d outputs takes two products with context × d, whose widening costs as much again.
  double reference_cost(const Workload& w) const override { return 8 * static_cast<double>(w.shape["context"]); }
  std::int64_t reference_run(const Workload& w) const override { return decoded(w).group * w.shape["head_dim"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override {
    const Attended e = decoded(w);
    return matrix_edges(e.heads, e.d);
  }

  /// Outputs are means of `context` values, as in attention, and tensor cores round the weights in the same way.
  Tolerance tolerance(const Workload& w) const override {
    const auto context = static_cast<double>(w.shape["context"]);
    const auto d = static_cast<double>(w.shape["head_dim"]);
    Tolerance tolerance = storage_tolerance(w.dtype, 0.6 / std::sqrt(context), 8 + std::sqrt(context) + std::sqrt(d));
    if (element_size(w.dtype) == 2) tolerance.relative += 4 * operand_roundoff(w.dtype);
    return tolerance;
  }

  std::vector<Implementation> implementations() const override;
  std::vector<Shape> test_shapes(DeviceKind device) const override;

 private:
  Attended extents(const Workload& w) const override { return decoded(w); }
  /// The products have one row per head, so they count on the vector pipe, which does not limit a memory-bound
  /// kernel.
  Pipe products(const Workload& w, DeviceKind) const override { return vector_pipe(w.dtype); }
};

/// Combines one output from its head's partial results, which are `stride` apart; their peaks become weights.
template <typename T>
void join_parts(Computed<T>* parts, std::int64_t count, std::int64_t stride, T* out, std::int64_t d) {
  using Value = Computed<T>;
  Value peak = -std::numeric_limits<Value>::infinity();
  for (std::int64_t i = 0; i < count; ++i) peak = std::max(peak, parts[i * stride + d + 1]);
  Value sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Value* part = parts + i * stride;
    part[d + 1] = std::exp(part[d + 1] - peak);
    sum += part[d + 1] * part[d];
  }
  for (std::int64_t c = 0; c < d; ++c) {
    Value total = 0;
    for (std::int64_t i = 0; i < count; ++i) total += parts[i * stride + d + 1] * parts[i * stride + c];
    out[c] = narrowed<T>(total / sum);
  }
}

/// Keys per part: enough to amortise a partial result, few enough for several parts per thread.
std::int64_t piece_of(const Attended& e, std::int64_t threads) {
  const std::int64_t pieces = std::max<std::int64_t>(1, 4 * threads / e.kv_heads());
  return std::max<std::int64_t>(256, (e.keys + pieces - 1) / pieces);
}

Kernel prepare_split(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
    const Attended e = decoded(w);
    const std::int64_t piece = piece_of(e, cpu.pool().size());
    const std::int64_t pieces = (e.keys + piece - 1) / piece;
    const std::int64_t stride = e.group * part_size(e.d);  // between partial results of successive parts
    const Workspace<Computed<T>> parts(cpu, e.kv_heads() * pieces * stride, 1);
    const auto part = with_isa(cpu.isa(), []<Isa isa>() { return &decode_part<isa, T>; });
    return [=, &pool = cpu.pool()](std::span<void* const> tensors) {
      pool.for_chunks(e.kv_heads() * pieces, 1, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t head = i / pieces;
          const std::int64_t first = i % pieces * piece;
          const std::int64_t keys = (head * e.keys + first) * e.d;
          part(elements<T>(tensors, 0) + head * e.group * e.d, elements<T>(tensors, 1) + keys,
               elements<T>(tensors, 2) + keys, parts[0] + i * stride, e.group, std::min(piece, e.keys - first), e.d);
        }
      });
      pool.for_range(e.heads, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t head = begin; head < end; ++head) {
          Computed<T>* first = parts[0] + head / e.group * pieces * stride + head % e.group * part_size(e.d);
          join_parts(first, pieces, stride, elements<T>(tensors, 3) + head * e.d, e.d);
        }
      });
    };
  });
}

std::vector<Implementation> Decode::implementations() const {
  return {naive_implementation("all threads, one head at a time"),
          {.name = "split",
           .summary = "vectors; context split over threads, keys and values read once per group of heads",
           .dtypes = cpu_dtypes(),
           .prepare = prepare_split}};
}

std::vector<Shape> Decode::test_shapes(DeviceKind device) const {
  if (device == DeviceKind::cpu) {
    return {{{"batch", 1}, {"heads", 1}, {"context", 1}, {"head_dim", 1}},
            {{"batch", 3}, {"heads", 2}, {"context", 67}, {"head_dim", 19}},
            {{"batch", 1}, {"heads", 1}, {"context", 5003}, {"head_dim", 64}},
            {{"batch", 2}, {"heads", 6}, {"context", 1100}, {"head_dim", 80}, {"kv_heads", 2}}};
  }
  return {{{"batch", 1}, {"heads", 1}, {"context", 1}, {"head_dim", 64}},
          {{"batch", 3}, {"heads", 2}, {"context", 77}, {"head_dim", 128}},
          {{"batch", 1}, {"heads", 6}, {"context", 1031}, {"head_dim", 80}, {"kv_heads", 2}},
          {{"batch", 2}, {"heads", 4}, {"context", 300}, {"head_dim", 8}, {"kv_heads", 2}},
          {{"batch", 1}, {"heads", 32}, {"context", 5000}, {"head_dim", 128}, {"kv_heads", 8}},
          {{"batch", 2}, {"heads", 22}, {"context", 2049}, {"head_dim", 64}, {"kv_heads", 2}},
          {{"batch", 1}, {"heads", 1}, {"context", 100000}, {"head_dim", 128}}};
}

const OpRegistrar kRegistrar(std::make_unique<Decode>());

}  // namespace

Attended decoded(const Workload& workload) {
  const Shape& shape = workload.shape;
  return {.heads = shape["batch"] * shape["heads"],
          .group = group_of(shape),
          .queries = 1,
          .keys = shape["context"],
          .d = shape["head_dim"],
          .causal = false};
}

}  // namespace roofline
