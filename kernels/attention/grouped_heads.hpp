// Common to attention and decode: groups of heads that share keys and values, and everything of the op except its
// shape, the cost of its reference and its tolerance. No CUDA header here.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "kernels/attention/attention.hpp"
#include "op/op.hpp"

namespace roofline {

/// o = softmax(q kᵀ / sqrt(d)) v for each head, of tensors q, K, V and o.
class GroupedHeadsOp : public Op {
 public:
  GroupedHeadsOp(std::string queries, std::string outputs)
      : queries_(std::move(queries)), outputs_(std::move(outputs)) {}

  std::string_view family() const override { return "attention"; }
  std::optional<std::string> invalid(const Shape& shape) const override;
  std::vector<TensorSpec> tensors(const Workload& w) const override;

  /// The field counts the two products only, and under a causal mask only the unmasked scores: S(S+1)/2 per head.
  /// Softmax adds 5 operations per score (scale, maximum, subtract, exponential, add), which take time on their
  /// pipes.
  Work work(const Workload& w, DeviceKind device) const override;
  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

 protected:
  virtual Attended extents(const Workload& w) const = 0;
  /// The pipe that the two products run on.
  virtual Pipe products(const Workload& w, DeviceKind device) const = 0;
  /// All CPU threads, one query at a time: its scores, their softmax, the weighted sum of V's rows.
  Implementation naive_implementation(std::string summary) const;

 private:
  std::string queries_, outputs_;
};

/// The shape parameter `kv_heads`, which is optional.
ShapeParameter kv_heads_parameter();
/// Consecutive heads that share keys and values.
std::int64_t group_of(const Shape& shape);

/// log2(e) / sqrt(d): scores become powers of two directly.
inline float scale_log2(const Attended& e) {
  return static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(e.d)));
}

/// Why GPU kernels with 16-byte loads and heads of at most 128 elements do not support this; std::nullopt if they do.
inline std::optional<std::string> head_dim_unsupported(const Attended& e, DType dtype) {
  const std::int64_t per_vector = 16 / element_size(dtype);
  if (e.d > 128) return "needs head_dim <= 128";
  if (e.d % per_vector != 0) return "needs a head_dim that is a multiple of " + std::to_string(per_vector);
  return std::nullopt;
}

}  // namespace roofline
