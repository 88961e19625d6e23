// The factors, as nccl-tests derives them (its doc/PERFORMANCE.md).
#include "model/collective.hpp"

namespace roofline {

std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks) {
  if (ranks < 1) return std::nullopt;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  if (collective == "all_reduce") return 2 * others;
  if (collective == "all_gather" || collective == "reduce_scatter" || collective == "all_to_all") return others;
  if (collective == "broadcast" || collective == "send_recv") return 1;
  return std::nullopt;
}

}  // namespace roofline
