// The one decision that CPU launchers share.
#include "kernels/blocks/cpu/cpu_launch.hpp"

namespace roofline {

bool stores_past_caches(const Op& op, const Workload& workload, const Device& device) {
  if (workload.cache == CacheMode::cold) return true;
  double bytes = 0;
  for (const auto& tensor : op.tensors(workload)) bytes += static_cast<double>(tensor.bytes());
  return bytes > device.last_level_cache_bytes();
}

}  // namespace roofline
