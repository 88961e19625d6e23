// The layout of a case, and what it costs in device memory.
#include "op/layout.hpp"

#include <algorithm>
#include <cmath>

#include "op/case.hpp"

namespace roofline {
namespace {

// Counted on an H200 (60 MiB of L2; docs/method.md): of a sum over one set of 134 MB, L2 had 24 MB from the launch
// before; of 537 MB still 18 MB, and of two such sets 5 MB in turns. Of three and more nothing.
constexpr double kLeastSets = 4;
/// Times L2: what it keeps, a third of itself, is then 1 % of a set.
constexpr double kLargeSet = 32;

}  // namespace

std::int64_t guarded_bytes(const TensorSpec& tensor) {
  const std::int64_t whole = (tensor.bytes() + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  return kGuardBytes + whole + kGuardBytes;
}

std::int64_t buffer_sets(std::span<const TensorSpec> tensors, CacheMode cache, const LastLevelCache& last_level) {
  if (cache == CacheMode::hot) return 1;
  double bytes = 0;
  for (const auto& tensor : tensors) bytes += static_cast<double>(tensor.bytes());
  if (bytes <= 0) return 1;
  const double in_caches = last_level.bytes / bytes;
  double wanted = std::ceil(2 * in_caches);
  if (last_level.device == DeviceKind::cuda) {
    wanted = 1 / in_caches >= kLargeSet ? 1 : std::max(kLeastSets, std::ceil(4 * in_caches));
  }
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxBufferSets)));
}

double case_bytes(const Op& op, const Workload& workload, const LastLevelCache& last_level) {
  const auto tensors = op.tensors(workload);
  double set = 0;
  for (const auto& tensor : tensors) set += static_cast<double>(guarded_bytes(tensor));
  double first_values = 0;
  for (const auto& tensor : tensors) {
    if (tensor.role == TensorRole::inout) first_values += static_cast<double>(tensor.bytes());
  }
  return set * static_cast<double>(buffer_sets(tensors, workload.cache, last_level)) + first_values;
}

}  // namespace roofline
