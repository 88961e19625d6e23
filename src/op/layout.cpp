// The layout of a case, and its cost in device memory.
#include "op/layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "op/case.hpp"

namespace roofline {
namespace {

// Counted on an H200 (60 MiB of L2; docs/method.md): for a sum over one set of 134 MB, L2 had 24 MB of the previous
// launch; of 537 MB still 18 MB, with two such sets in turn 5 MB. With three and more nothing.
constexpr double kLeastSets = 4;
/// Times L2: what it keeps, a third of itself, is then 1 % of a set.
constexpr double kLargeSet = 32;
/// Times a CPU's last-level cache; a cache that is not LRU then keeps 2 % (docs/method.md), and more would only
/// take longer to prepare.
constexpr double kColdCpu = 16;
constexpr double kLeastCpu = 2;
constexpr double kOfFreeMemory = 1.0 / 8;

}  // namespace

std::int64_t guarded_bytes(const TensorSpec& tensor) {
  const std::int64_t whole = (tensor.bytes() + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  return kGuardBytes + whole + kGuardBytes;
}

std::int64_t buffer_sets(std::span<const TensorSpec> tensors, CacheMode cache, const LastLevelCache& last_level) {
  if (cache == CacheMode::hot) return 1;
  // Each rank has its own cache: the one with the least data reuses it soonest.
  std::map<int, double> by_rank;
  for (const auto& tensor : tensors) by_rank[tensor.rank] += static_cast<double>(tensor.bytes());
  double bytes = by_rank.empty() ? 0 : by_rank.begin()->second;
  for (const auto& [rank, sum] : by_rank) bytes = std::min(bytes, sum);
  if (bytes <= 0) return 1;
  const double in_caches = last_level.bytes / bytes;
  const double room = kOfFreeMemory * last_level.free_memory_bytes / bytes;
  double wanted = std::ceil(std::min(kColdCpu * in_caches, std::max(kLeastCpu * in_caches, room)));
  if (last_level.device == DeviceKind::cuda) {
    wanted = 1 / in_caches >= kLargeSet ? 1 : std::max(kLeastSets, std::ceil(4 * in_caches));
  }
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxBufferSets)));
}

double case_bytes(const Op& op, const Workload& workload, const LastLevelCache& last_level) {
  const auto tensors = op.tensors(workload);
  const auto sets = static_cast<double>(buffer_sets(tensors, workload.cache, last_level));
  std::map<int, double> by_rank;
  for (const auto& tensor : tensors) {
    const double first_values = tensor.role == TensorRole::inout ? static_cast<double>(tensor.bytes()) : 0;
    by_rank[tensor.rank] += sets * static_cast<double>(guarded_bytes(tensor)) + first_values;
  }
  double most = 0;
  for (const auto& [rank, bytes] : by_rank) most = std::max(most, bytes);
  return most;
}

}  // namespace roofline
