// The layout of a case, and what it costs in device memory.
#include "op/layout.hpp"

#include <algorithm>
#include <cmath>

#include "op/case.hpp"

namespace roofline {

std::int64_t guarded_bytes(const TensorSpec& tensor) {
  const std::int64_t whole = (tensor.bytes() + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  return kGuardBytes + whole + kGuardBytes;
}

std::int64_t buffer_sets(std::span<const TensorSpec> tensors, CacheMode cache, double last_level_cache) {
  if (cache == CacheMode::hot) return 1;
  double bytes = 0;
  for (const auto& tensor : tensors) bytes += static_cast<double>(tensor.bytes());
  if (bytes <= 0) return 1;
  const double wanted = std::ceil(2 * last_level_cache / bytes);
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxBufferSets)));
}

double case_bytes(const Op& op, const Workload& workload, double last_level_cache) {
  const auto tensors = op.tensors(workload);
  double set = 0;
  for (const auto& tensor : tensors) set += static_cast<double>(guarded_bytes(tensor));
  return set * static_cast<double>(buffer_sets(tensors, workload.cache, last_level_cache));
}

}  // namespace roofline
