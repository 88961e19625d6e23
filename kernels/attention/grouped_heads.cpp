// Common to attention and decode: tensors, work, and attention of one query on the CPU, in fp64 for the reference
// and as the naive implementation.
#include "kernels/attention/grouped_heads.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <limits>

#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "op/rows.hpp"

namespace roofline {
namespace {

/// Keys and values of one head, [keys × d] each, widened once for all of its queries.
class WideHead {
 public:
  /// Reads head `head` of the tensors k and v, unless it is already loaded.
  void load(std::int64_t head, std::int64_t keys, std::int64_t d, const HostTensor& k, const HostTensor& v) {
    if (head == head_) return;
    head_ = head;
    keys_.resize(keys, d);
    values_.resize(keys, d);
    k.read(head * keys * d, {keys_.data(), static_cast<std::size_t>(keys_.size())});
    v.read(head * keys * d, {values_.data(), static_cast<std::size_t>(values_.size())});
  }

  /// softmax(query · keysᵀ / sqrt(d)) · values over the first `seen` keys, for the given `columns` of the output
  /// (ascending columns of one row, or all of them).
  void attend(const Eigen::VectorXd& query, std::int64_t seen, std::span<const std::int64_t> columns,
              std::span<double> out) {
    weights_.noalias() = keys_.topRows(seen) * query / std::sqrt(static_cast<double>(query.size()));
    weights_ = (weights_.array() - weights_.maxCoeff()).exp().matrix();
    weights_ /= weights_.sum();
    const auto values = values_.topRows(seen);
    if (static_cast<std::int64_t>(columns.size()) == query.size()) {
      Eigen::Map<Eigen::VectorXd>(out.data(), query.size()).noalias() = values.transpose() * weights_;
      return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) out[i] = values.col(columns[i]).dot(weights_);
  }

 private:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::int64_t head_ = -1;
  Matrix keys_, values_;
  Eigen::VectorXd weights_;
};

/// The same in T, element by element, over as many keys as `scores` has room for.
template <typename T>
void naive_query(const T* q, const T* k, const T* v, T* o, std::span<T> scores, std::int64_t d) {
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

Kernel naive_attention(const Attended& e, DType dtype, Device& device) {
  auto& pool = as_cpu(device).pool();
  return with_cpu_type(dtype, [&]<typename T>() -> Kernel {
    return [&pool, e](std::span<void* const> tensors) {
      pool.for_range(e.heads * e.queries, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> scores(static_cast<std::size_t>(e.keys));
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t head = row / e.queries / e.group * e.keys * e.d;
          const auto seen = static_cast<std::size_t>(e.keys_of(row % e.queries));
          naive_query<T>(elements<T>(tensors, 0) + row * e.d, elements<T>(tensors, 1) + head,
                         elements<T>(tensors, 2) + head, elements<T>(tensors, 3) + row * e.d, {scores.data(), seen},
                         e.d);
        }
      });
    };
  });
}

}  // namespace

ShapeParameter kv_heads_parameter() {
  return {.name = "kv_heads",
          .meaning = "key/value heads, each shared by a group of query heads (GQA); 0: same as heads",
          .default_value = 0,
          .minimum = 0};
}

std::int64_t group_of(const Shape& shape) {
  const std::int64_t kv_heads = shape.contains("kv_heads") ? shape["kv_heads"] : 0;
  return kv_heads == 0 ? 1 : shape["heads"] / kv_heads;
}

std::optional<std::string> GroupedHeadsOp::invalid(const Shape& shape) const {
  if (!shape.contains("kv_heads") || shape["kv_heads"] == 0 || shape["heads"] % shape["kv_heads"] == 0) return {};
  return "heads must be a multiple of kv_heads";
}

std::vector<TensorSpec> GroupedHeadsOp::tensors(const Workload& w) const {
  const Attended e = extents(w);
  const std::int64_t queries = e.heads * e.queries * e.d;
  const std::int64_t keys = e.kv_heads() * e.keys * e.d;
  return {{queries_, TensorRole::input, queries, w.dtype},
          {"K", TensorRole::input, keys, w.dtype},
          {"V", TensorRole::input, keys, w.dtype},
          {outputs_, TensorRole::output, queries, w.dtype}};
}

Work GroupedHeadsOp::work(const Workload& w, DeviceKind device) const {
  const Attended e = extents(w);
  const double scores = e.scores();
  const auto size = static_cast<double>(e.d * element_size(w.dtype));  // of a query, key or value
  const double queries = static_cast<double>(e.heads * e.queries) * size;
  const double keys = static_cast<double>(e.kv_heads() * e.keys) * size;
  Work work;
  work.flops[products(w, device)] = 4 * scores * static_cast<double>(e.d);
  work.uncounted[vector_pipe(w.dtype)] = 4 * scores;
  work.uncounted[device == DeviceKind::cuda ? Pipe::sfu : vector_pipe(w.dtype)] += scores;
  work.bytes[main_memory(device)] = {.read = queries + 2 * keys, .write = queries};
  return work;
}

void GroupedHeadsOp::reference(const Workload& w, std::span<const HostTensor> inputs,
                               std::span<const std::int64_t> indices, std::span<double> expected) const {
  const Attended e = extents(w);
  WideHead head;
  Eigen::VectorXd query(e.d);
  std::vector<std::int64_t> columns;
  for_each_row(indices, expected, e.d, [&](std::int64_t row, auto wanted, auto out) {
    head.load(row / e.queries / e.group, e.keys, e.d, inputs[1], inputs[2]);
    inputs[0].read(row * e.d, {query.data(), static_cast<std::size_t>(e.d)});
    columns.assign(wanted.begin(), wanted.end());
    for (std::int64_t& column : columns) column -= row * e.d;
    head.attend(query, e.keys_of(row % e.queries), columns, out);
  });
}

Implementation GroupedHeadsOp::naive_implementation(std::string summary) const {
  return {.name = "naive",
          .summary = std::move(summary),
          .dtypes = cpu_dtypes(),
          .extra_traffic = [this](const Workload& w) { return fp32_copies(*this, w); },
          .prepare =
              [this](const Workload& w, Device& device) {
                return through_fp32(*this, w, device, [this](const Workload& wide, Device& cpu) {
                  return naive_attention(extents(wide), wide.dtype, cpu);
                });
              }};
}

}  // namespace roofline
