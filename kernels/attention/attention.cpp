// Attention, forward, without a mask: O = softmax(Q K^T / sqrt(d)) V for each head. Work model, reference,
// and the CPU's rungs; the CUDA ones are in attention.cu.
//   naive  all threads, a query at a time: its scores, their softmax, the weighted sum of V's rows
//   fused  all threads, blocks of queries × keys by Eigen's products, softmax on the way (online)
#include "kernels/attention/attention.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/rows.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

struct Extents {
  std::int64_t heads;  ///< of all batches together: each is a product of its own
  std::int64_t seq, d;
};

Extents extents_of(const Workload& w) {
  return {w.shape["batch"] * w.shape["heads"], w.shape["seq"], w.shape["head_dim"]};
}

class Attention final : public Op {
 public:
  std::string_view name() const override { return "attention"; }
  std::string_view summary() const override { return "O = softmax(Q K^T / sqrt(d)) V for each head, no mask"; }
  std::string_view family() const override { return "attention"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "batch", .meaning = "sequences", .default_value = 1},
            {.name = "heads", .meaning = "heads of each sequence", .default_value = 16},
            {.name = "seq", .meaning = "queries and keys of a head", .default_value = 2048},
            {.name = "head_dim", .meaning = "elements of a query, key or value", .default_value = 128}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const auto [heads, seq, d] = extents_of(w);
    const std::int64_t n = heads * seq * d;
    return {{"Q", TensorRole::input, n, w.dtype},
            {"K", TensorRole::input, n, w.dtype},
            {"V", TensorRole::input, n, w.dtype},
            {"O", TensorRole::output, n, w.dtype}};
  }

  /// The field counts the two products only. Softmax adds 5 operations a score (scale, maximum, subtract,
  /// exponential, add) that take time on their pipes all the same.
  Work work(const Workload& w, DeviceKind device) const override {
    const auto heads = static_cast<double>(w.shape["batch"]) * static_cast<double>(w.shape["heads"]);
    const auto seq = static_cast<double>(w.shape["seq"]);
    const auto d = static_cast<double>(w.shape["head_dim"]);
    const double scores = heads * seq * seq;
    const double bytes = heads * seq * d * static_cast<double>(element_size(w.dtype));
    Work work;
    work.flops[matrix_pipe(w.dtype, device)] = 4 * scores * d;
    work.uncounted[vector_pipe(w.dtype)] = 4 * scores;
    work.uncounted[device == DeviceKind::cuda ? Pipe::sfu : vector_pipe(w.dtype)] += scores;
    work.bytes[main_memory(device)] = {.read = 3 * bytes, .write = bytes};
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
    const auto [heads, seq, d] = extents_of(w);
    auto edges = matrix_edges(seq, d);
    const auto last = matrix_edges(seq, d, (heads - 1) * seq * d);
    edges.insert(edges.end(), last.begin(), last.end());
    return edges;
  }

  Tolerance tolerance(const Workload& w) const override;
  std::vector<Implementation> implementations() const override;
};

/// Outputs are means of seq values of deviation 0.58, with weights e^±1 that make it 0.6 / sqrt(seq).
/// Roundings: those of the sums over d and seq, and 8 of the exponential. Weights rounded to the operand's
/// type for the second product err by u each, independently: 5.7 deviations of 0.6 u, relative to the output.
Tolerance Attention::tolerance(const Workload& w) const {
  const auto seq = static_cast<double>(w.shape["seq"]);
  const auto d = static_cast<double>(w.shape["head_dim"]);
  Tolerance tolerance = storage_tolerance(w.dtype, 0.6 / std::sqrt(seq), 8 + std::sqrt(seq) + std::sqrt(d));
  if (w.dtype != DType::fp64) tolerance.relative += 4 * operand_roundoff(w.dtype);
  return tolerance;
}

/// Keys and values of one head, widened once for all of its queries.
struct Head {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::int64_t index = -1;
  Matrix keys, values;

  void load(std::int64_t head, const Extents& e, std::span<const HostTensor> inputs) {
    if (head == index) return;
    index = head;
    keys.resize(e.seq, e.d);
    values.resize(e.seq, e.d);
    inputs[1].read(head * e.seq * e.d, {keys.data(), static_cast<std::size_t>(keys.size())});
    inputs[2].read(head * e.seq * e.d, {values.data(), static_cast<std::size_t>(values.size())});
  }
};

void Attention::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                          std::span<double> expected) const {
  const Extents e = extents_of(w);
  Head head;
  Eigen::VectorXd query(e.d);
  Eigen::VectorXd weights(e.seq);
  Eigen::VectorXd output(e.d);
  for_each_row(indices, expected, e.d, [&](std::int64_t row, auto wanted, auto out) {
    head.load(row / e.seq, e, inputs);
    inputs[0].read(row * e.d, {query.data(), static_cast<std::size_t>(e.d)});
    weights.noalias() = head.keys * query / std::sqrt(static_cast<double>(e.d));
    weights = (weights.array() - weights.maxCoeff()).exp().matrix();
    weights /= weights.sum();
    const bool whole = static_cast<std::int64_t>(wanted.size()) == e.d;
    if (whole) output.noalias() = head.values.transpose() * weights;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::int64_t column = wanted[i] - row * e.d;
      out[i] = whole ? output[column] : head.values.col(column).dot(weights);
    }
  });
}

template <typename T>
void naive_query(const T* q, const T* k, const T* v, T* o, std::vector<T>& scores, std::int64_t d) {
  T largest = -std::numeric_limits<T>::infinity();
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const T* key = k + static_cast<std::int64_t>(j) * d;
    T dot = 0;
    for (std::int64_t p = 0; p < d; ++p) dot += q[p] * key[p];
    scores[j] = dot / std::sqrt(static_cast<T>(d));
    largest = std::max(largest, scores[j]);
  }
  std::fill_n(o, d, T{0});
  T sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const T weight = std::exp(scores[j] - largest);
    sum += weight;
    for (std::int64_t p = 0; p < d; ++p) o[p] += weight * v[static_cast<std::int64_t>(j) * d + p];
  }
  for (std::int64_t p = 0; p < d; ++p) o[p] /= sum;
}

Kernel prepare_naive(const Workload& w, Device& device) {
  auto& pool = as_cpu(device).pool();
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [&pool, e = extents_of(w)](std::span<void* const> tensors) {
      pool.for_range(e.heads * e.seq, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> scores(static_cast<std::size_t>(e.seq));
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t head = row / e.seq * e.seq * e.d;
          naive_query<T>(elements<T>(tensors, 0) + row * e.d, elements<T>(tensors, 1) + head,
                         elements<T>(tensors, 2) + head, elements<T>(tensors, 3) + row * e.d, scores, e.d);
        }
      });
    };
  });
}

Kernel prepare_fused(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto rows = with_isa(cpu.isa(), []<Isa isa>() { return &attention_rows<isa, T>; });
    return [&pool = cpu.pool(), rows, e = extents_of(w)](std::span<void* const> tensors) {
      const std::int64_t blocks = (e.seq + kQueryBlock - 1) / kQueryBlock;
      pool.for_range(e.heads * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
          const std::int64_t head = block / blocks * e.seq;
          const std::int64_t first = block % blocks * kQueryBlock;
          rows(elements<T>(tensors, 0) + (head + first) * e.d, elements<T>(tensors, 1) + head * e.d,
               elements<T>(tensors, 2) + head * e.d, elements<T>(tensors, 3) + (head + first) * e.d,
               std::min(kQueryBlock, e.seq - first), e.seq, e.d);
        }
      });
    };
  });
}

std::vector<Implementation> Attention::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {{.name = "naive", .summary = "all threads, a query at a time", .dtypes = dtypes, .prepare = prepare_naive},
          {.name = "fused",
           .summary = "all threads, blocks of scores by Eigen's products, online softmax",
           .dtypes = dtypes,
           .prepare = prepare_fused}};
}

const OpRegistrar kRegistrar(std::make_unique<Attention>());

}  // namespace
}  // namespace roofline
