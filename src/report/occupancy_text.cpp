#include "report/occupancy_text.hpp"

#include <fmt/format.h>

#include "text/format.hpp"

namespace roofline {
namespace {

std::string_view limit_text(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::blocks:
      return "its number of blocks";
    case OccupancyLimit::registers:
      return "registers";
    case OccupancyLimit::shared_memory:
      return "shared memory";
    default:
      return "its number of threads";
  }
}

std::string change_text(const OccupancyChange& change) {
  const std::string amount = fmt::format("{:.0f}", change.amount);
  const std::string with = percent(change.occupancy);
  switch (change.of) {
    case OccupancyLimit::registers:
      return fmt::format("at most {} registers per thread ({})", amount, with);
    case OccupancyLimit::shared_memory:
      return fmt::format("at most {} shared memory per block ({})", binary_bytes(change.amount), with);
    default:
      return fmt::format("blocks of {} threads ({})", amount, with);
  }
}

}  // namespace

std::string resident_blocks_text(const KernelLaunch& kernel) {
  if (kernel.blocks_per_sm <= 0 || !(kernel.occupancy > 0)) return {};
  return fmt::format("{} of {} threads {} on an SM (limited by {}): {} occupancy.",
                     counted_noun(kernel.blocks_per_sm, "block", "blocks"), count(kernel.threads),
                     kernel.blocks_per_sm == 1 ? "fits" : "fit", limit_text(kernel.limit), percent(kernel.occupancy));
}

std::string occupancy_changes_text(const KernelLaunch& kernel) {
  std::string text;
  for (const OccupancyChange& change : kernel.changes) {
    if (!text.empty()) text += &change == &kernel.changes.back() ? " or " : ", ";
    text += change_text(change);
  }
  return text;
}

}  // namespace roofline
