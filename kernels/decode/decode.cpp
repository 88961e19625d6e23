// Decode attention: one query a head against a long cache of keys and values, o = softmax(q K^T / sqrt(d)) V. Every key
// and value is read for a few operations, so memory is the limit. Work model, reference, and the CPU's rungs; the CUDA
// ones are in decode.cu.
//   naive  all threads, a head at a time
//   split  vectors; pieces of the context side by side, each read once for all heads that share it
#include "kernels/decode/decode.hpp"

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

class Decode final : public Op {
 public:
  std::string_view name() const override { return "decode"; }
  std::string_view summary() const override { return "o = softmax(q K^T / sqrt(d)) V, one query a head"; }
  std::string_view family() const override { return "attention"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "batch", .meaning = "sequences, each with a cache of its own", .default_value = 16},
            {.name = "heads", .meaning = "heads of each sequence", .default_value = 32},
            {.name = "context", .meaning = "keys and values of a head", .default_value = 8192},
            {.name = "head_dim", .meaning = "elements of a query, key or value", .default_value = 128},
            {.name = "kv_heads",
             .meaning = "heads of keys and values, shared by groups of heads; 0: as many",
             .default_value = 0,
             .minimum = 0}};
  }

  std::optional<std::string> invalid(const Shape& shape) const override {
    if (!shape.contains("kv_heads") || shape["kv_heads"] == 0 || shape["heads"] % shape["kv_heads"] == 0) return {};
    return "heads must be a multiple of kv_heads";
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const Decoded e = decoded(w);
    const std::int64_t cache = e.kv_heads() * e.context * e.d;
    return {{"q", TensorRole::input, e.heads * e.d, w.dtype},
            {"K", TensorRole::input, cache, w.dtype},
            {"V", TensorRole::input, cache, w.dtype},
            {"o", TensorRole::output, e.heads * e.d, w.dtype}};
  }

  /// As attention's. The products have one row a head: they run on the vector pipe, which is where the bound of a
  /// memory-bound kernel is not looked for.
  Work work(const Workload& w, DeviceKind device) const override {
    const Decoded e = decoded(w);
    const auto d = static_cast<double>(e.d);
    const auto size = static_cast<double>(element_size(w.dtype));
    const double outputs = static_cast<double>(e.heads) * d * size;
    const double cache = static_cast<double>(e.kv_heads()) * static_cast<double>(e.context) * d * size;
    Work work;
    work.flops[vector_pipe(w.dtype)] = 4 * e.scores() * d;
    work.uncounted[vector_pipe(w.dtype)] = 4 * e.scores();
    work.uncounted[device == DeviceKind::cuda ? Pipe::sfu : vector_pipe(w.dtype)] += e.scores();
    work.bytes[main_memory(device)] = {.read = outputs + 2 * cache, .write = outputs};
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

  /// A row of d outputs takes two products with context × d, whose widening costs as much again.
  double reference_cost(const Workload& w) const override { return 8 * static_cast<double>(w.shape["context"]); }
  std::int64_t reference_run(const Workload& w) const override { return decoded(w).group * w.shape["head_dim"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override {
    const Decoded e = decoded(w);
    return matrix_edges(e.heads, e.d);
  }

  /// Outputs are means of `context` values, as attention's are, and tensor cores take weights rounded as there.
  Tolerance tolerance(const Workload& w) const override {
    const auto context = static_cast<double>(w.shape["context"]);
    const auto d = static_cast<double>(w.shape["head_dim"]);
    Tolerance tolerance = storage_tolerance(w.dtype, 0.6 / std::sqrt(context), 8 + std::sqrt(context) + std::sqrt(d));
    if (element_size(w.dtype) == 2) tolerance.relative += 4 * operand_roundoff(w.dtype);
    return tolerance;
  }

  std::vector<Implementation> implementations() const override;
};

void Decode::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                       std::span<double> expected) const {
  const Decoded e = decoded(w);
  WideHead head;
  Eigen::VectorXd query(e.d);
  std::vector<std::int64_t> columns;
  for_each_row(indices, expected, e.d, [&](std::int64_t row, auto wanted, auto out) {
    head.load(row / e.group, e.context, e.d, inputs[1], inputs[2]);
    inputs[0].read(row * e.d, {query.data(), static_cast<std::size_t>(e.d)});
    columns.assign(wanted.begin(), wanted.end());
    for (std::int64_t& column : columns) column -= row * e.d;
    head.attend(query, e.context, columns, out);
  });
}

Kernel prepare_naive(const Workload& w, Device& device) {
  auto& pool = as_cpu(device).pool();
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [&pool, e = decoded(w)](std::span<void* const> tensors) {
      pool.for_range(e.heads, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> scores(static_cast<std::size_t>(e.context));
        for (std::int64_t head = begin; head < end; ++head) {
          const std::int64_t keys = head / e.group * e.context * e.d;
          naive_query<T>(elements<T>(tensors, 0) + head * e.d, elements<T>(tensors, 1) + keys,
                         elements<T>(tensors, 2) + keys, elements<T>(tensors, 3) + head * e.d, scores, e.d);
        }
      });
    };
  });
}

/// One output from its head's parts, which lie `stride` apart.
template <typename T>
void join_parts(const T* parts, std::int64_t count, std::int64_t stride, T* out, std::int64_t d) {
  T peak = -std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < count; ++i) peak = std::max(peak, parts[i * stride + d + 1]);
  T sum = 0;
  std::fill_n(out, d, T{0});
  for (std::int64_t i = 0; i < count; ++i) {
    const T* part = parts + i * stride;
    const T weight = std::exp(part[d + 1] - peak);
    sum += weight * part[d];
    for (std::int64_t c = 0; c < d; ++c) out[c] += weight * part[c];
  }
  for (std::int64_t c = 0; c < d; ++c) out[c] /= sum;
}

/// Keys of a piece: enough to forget what a part costs, few enough that every thread gets several.
std::int64_t piece_of(const Decoded& e, std::int64_t threads) {
  const std::int64_t pieces = std::max<std::int64_t>(1, 4 * threads / e.kv_heads());
  return std::max<std::int64_t>(256, (e.context + pieces - 1) / pieces);
}

Kernel prepare_split(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const Decoded e = decoded(w);
    const std::int64_t piece = piece_of(e, cpu.pool().size());
    const std::int64_t pieces = (e.context + piece - 1) / piece;
    const std::int64_t stride = e.group * part_size(e.d);  // from one piece's parts to the next
    const Workspace<T> parts(cpu, e.kv_heads() * pieces * stride, 1);
    const auto part = with_isa(cpu.isa(), []<Isa isa>() { return &decode_part<isa, T>; });
    return [=, &pool = cpu.pool()](std::span<void* const> tensors) {
      pool.for_range(e.kv_heads() * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t head = i / pieces;
          const std::int64_t first = i % pieces * piece;
          const std::int64_t keys = (head * e.context + first) * e.d;
          part(elements<T>(tensors, 0) + head * e.group * e.d, elements<T>(tensors, 1) + keys,
               elements<T>(tensors, 2) + keys, parts[0] + i * stride, e.group, std::min(piece, e.context - first), e.d);
        }
      });
      pool.for_range(e.heads, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t head = begin; head < end; ++head) {
          const T* first = parts[0] + head / e.group * pieces * stride + head % e.group * part_size(e.d);
          join_parts(first, pieces, stride, elements<T>(tensors, 3) + head * e.d, e.d);
        }
      });
    };
  });
}

std::vector<Implementation> Decode::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {{.name = "naive", .summary = "all threads, a head at a time", .dtypes = dtypes, .prepare = prepare_naive},
          {.name = "split",
           .summary = "vectors; pieces of the context side by side, read once for all heads that share them",
           .dtypes = dtypes,
           .prepare = prepare_split}};
}

const OpRegistrar kRegistrar(std::make_unique<Decode>());

}  // namespace

Decoded decoded(const Workload& workload) {
  const Shape& shape = workload.shape;
  const std::int64_t kv_heads = shape.contains("kv_heads") ? shape["kv_heads"] : 0;
  return {.heads = shape["batch"] * shape["heads"],
          .group = kv_heads == 0 ? 1 : shape["heads"] / kv_heads,
          .context = shape["context"],
          .d = shape["head_dim"]};
}

}  // namespace roofline
