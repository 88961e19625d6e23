// Attention, forward: O = softmax(Q K^T / sqrt(d)) V for each head, with or without a causal mask. Work model,
// reference, and the CPU's rungs; the CUDA ones are in attention.cu.
//   naive  all threads, a query at a time: its scores, their softmax, the weighted sum of V's rows
//   fused  all threads, blocks of queries × keys, products on register tiles, softmax on the way (online)
#include "kernels/attention/attention.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/attention/one_query.hpp"
#include "kernels/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/rows.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Attention final : public Op {
 public:
  std::string_view name() const override { return "attention"; }
  std::string_view summary() const override { return "O = softmax(Q K^T / sqrt(d)) V for each head"; }
  std::string_view family() const override { return "attention"; }

  std::vector<ShapeParameter> parameters() const override {
    return {
        {.name = "batch", .meaning = "sequences", .default_value = 1},
        {.name = "heads", .meaning = "heads of each sequence", .default_value = 16},
        {.name = "seq", .meaning = "queries and keys of a head", .default_value = 2048},
        {.name = "head_dim", .meaning = "elements of a query, key or value", .default_value = 128},
        {.name = "causal", .meaning = "1: a query sees no later key", .default_value = 0, .minimum = 0, .maximum = 1},
        {.name = "kv_heads",
         .meaning = "heads of keys and values, shared by groups of heads; 0: as many",
         .default_value = 0,
         .minimum = 0}};
  }

  std::optional<std::string> invalid(const Shape& shape) const override {
    const std::int64_t kv_heads = option(shape, "kv_heads");
    if (kv_heads == 0 || shape["heads"] % kv_heads == 0) return std::nullopt;
    return "heads must be a multiple of kv_heads";
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const Attended e = attended(w);
    const std::int64_t queries = e.heads * e.seq * e.d;
    const std::int64_t keys = e.kv_heads() * e.seq * e.d;
    return {{"Q", TensorRole::input, queries, w.dtype},
            {"K", TensorRole::input, keys, w.dtype},
            {"V", TensorRole::input, keys, w.dtype},
            {"O", TensorRole::output, queries, w.dtype}};
  }

  /// The field counts the two products only, and under a causal mask only of the scores that are not masked: S(S+1)/2
  /// a head. Softmax adds 5 operations a score (scale, maximum, subtract,
  /// exponential, add) that take time on their pipes all the same.
  Work work(const Workload& w, DeviceKind device) const override {
    const Attended e = attended(w);
    const double scores = e.scores();
    const double bytes = static_cast<double>(e.seq * e.d * element_size(w.dtype));  // of one head
    Work work;
    work.flops[matrix_pipe(w.dtype, device)] = 4 * scores * static_cast<double>(e.d);
    work.uncounted[vector_pipe(w.dtype)] = 4 * scores;
    work.uncounted[device == DeviceKind::cuda ? Pipe::sfu : vector_pipe(w.dtype)] += scores;
    work.bytes[main_memory(device)] = {.read = static_cast<double>(e.heads + 2 * e.kv_heads()) * bytes,
                                       .write = static_cast<double>(e.heads) * bytes};
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

  /// A row of d outputs takes two products of seq × d and seq exponentials (16 operations each).
  double reference_cost(const Workload& w) const override {
    const auto seq = static_cast<double>(w.shape["seq"]);
    return 4 * seq + 16 * seq / static_cast<double>(w.shape["head_dim"]);
  }
  std::int64_t reference_run(const Workload& w) const override { return kQueryBlock * w.shape["head_dim"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override {
    const Attended e = attended(w);
    auto edges = matrix_edges(e.seq, e.d);
    const auto last = matrix_edges(e.seq, e.d, (e.heads - 1) * e.seq * e.d);
    edges.insert(edges.end(), last.begin(), last.end());
    return edges;
  }

  Tolerance tolerance(const Workload& w) const override;
  std::vector<Implementation> implementations() const override;
};

/// Outputs are means of seq values of deviation 0.58, with weights e^±1 that make it 0.6 / sqrt(seq).
/// Roundings: those of the sums over d and seq, and 8 of the exponential. Weights rounded to the operand's
/// type for the second product err by u each, independently: 5.7 deviations of 0.6 u, relative to the output.
/// Under a causal mask the first queries see few keys. From 16 on the same holds with 16 for seq; below, 4 u of
/// 0.6 / sqrt(16) still cover weights that err by u all alike.
Tolerance Attention::tolerance(const Workload& w) const {
  const auto seq = static_cast<double>(w.shape["seq"]);
  const auto d = static_cast<double>(w.shape["head_dim"]);
  const double fewest = attended(w).causal ? std::min(seq, 16.0) : seq;
  Tolerance tolerance = storage_tolerance(w.dtype, 0.6 / std::sqrt(fewest), 8 + std::sqrt(seq) + std::sqrt(d));
  if (w.dtype != DType::fp64) tolerance.relative += 4 * operand_roundoff(w.dtype);
  return tolerance;
}

void Attention::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                          std::span<double> expected) const {
  const Attended e = attended(w);
  WideHead head;
  Eigen::VectorXd query(e.d);
  std::vector<std::int64_t> columns;
  for_each_row(indices, expected, e.d, [&](std::int64_t row, auto wanted, auto out) {
    head.load(row / e.seq / e.group, e.seq, e.d, inputs[1], inputs[2]);
    inputs[0].read(row * e.d, {query.data(), static_cast<std::size_t>(e.d)});
    columns.assign(wanted.begin(), wanted.end());
    for (std::int64_t& column : columns) column -= row * e.d;
    head.attend(query, e.keys_of(row % e.seq), columns, out);
  });
}

Kernel prepare_naive(const Workload& w, Device& device) {
  auto& pool = as_cpu(device).pool();
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [&pool, e = attended(w)](std::span<void* const> tensors) {
      pool.for_range(e.heads * e.seq, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> scores(static_cast<std::size_t>(e.seq));
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t head = row / e.seq / e.group * e.seq * e.d;
          const auto seen = static_cast<std::size_t>(e.keys_of(row % e.seq));
          naive_query<T>(elements<T>(tensors, 0) + row * e.d, elements<T>(tensors, 1) + head,
                         elements<T>(tensors, 2) + head, elements<T>(tensors, 3) + row * e.d, {scores.data(), seen},
                         e.d);
        }
      });
    };
  });
}

Kernel prepare_fused(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto rows = with_isa(cpu.isa(), []<Isa isa>() { return &attention_rows<isa, T>; });
    const Attended e = attended(w);
    const Workspace<T> workspaces(cpu, attention_workspace(e.d), cpu.pool().size());
    return [=, &pool = cpu.pool()](std::span<void* const> tensors) {
      const std::int64_t blocks = (e.seq + kQueryBlock - 1) / kQueryBlock;
      pool.run([&](int worker) {
        // Dealt out forwards and backwards in turn: under a causal mask each block of a head takes longer than the
        // last.
        for (std::int64_t round = 0; round * pool.size() < e.heads * blocks; ++round) {
          const std::int64_t block = round * pool.size() + (round % 2 == 0 ? worker : pool.size() - 1 - worker);
          if (block >= e.heads * blocks) break;
          const std::int64_t head = block / blocks;
          const std::int64_t first = block % blocks * kQueryBlock;
          const std::int64_t last = std::min(first + kQueryBlock, e.seq);
          const std::int64_t queries = (head * e.seq + first) * e.d;
          const std::int64_t keys = head / e.group * e.seq * e.d;
          rows(elements<T>(tensors, 0) + queries, elements<T>(tensors, 1) + keys, elements<T>(tensors, 2) + keys,
               elements<T>(tensors, 3) + queries, workspaces[worker], last - first, e.keys_of(last - 1), e.d, e.causal);
        }
      });
    };
  });
}

std::vector<Implementation> Attention::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {{.name = "naive", .summary = "all threads, a query at a time", .dtypes = dtypes, .prepare = prepare_naive},
          {.name = "fused",
           .summary = "all threads, blocks of scores on register tiles, online softmax; never the matrix",
           .dtypes = dtypes,
           .prepare = prepare_fused}};
}

const OpRegistrar kRegistrar(std::make_unique<Attention>());

}  // namespace

double Attended::scores() const {
  const auto keys = static_cast<double>(seq);
  return static_cast<double>(heads) * (causal ? keys * (keys + 1) / 2 : keys * keys);
}

std::int64_t option(const Shape& shape, std::string_view name) { return shape.contains(name) ? shape[name] : 0; }

Attended attended(const Workload& workload) {
  const Shape& shape = workload.shape;
  const std::int64_t kv_heads = option(shape, "kv_heads");
  return {.heads = shape["batch"] * shape["heads"],
          .group = kv_heads == 0 ? 1 : shape["heads"] / kv_heads,
          .seq = shape["seq"],
          .d = shape["head_dim"],
          .causal = option(shape, "causal") != 0};
}

}  // namespace roofline
