#include "model/work_bounds.hpp"

namespace roofline {

std::vector<WorkMismatch> mismatches(const Work& stated, const WorkBounds& bounds) {
  constexpr double kBytes = 1.05, kFlops = 2;
  std::vector<WorkMismatch> found;
  const auto check = [&](WorkQuantity quantity, double amount, double least, double most, double factor) {
    if (amount * factor < least) found.push_back({quantity, amount, least});
    if (amount > most * factor) found.push_back({quantity, amount, most});
  };
  Traffic traffic;
  for (const Level level : {Level::dram, Level::hbm}) {
    const auto bytes = stated.bytes.find(level);
    if (bytes != stated.bytes.end()) traffic = bytes->second;
  }
  check(WorkQuantity::read, traffic.read, bounds.read_least, bounds.read_most, kBytes);
  check(WorkQuantity::write, traffic.write, bounds.write_least, bounds.write_most, kBytes);
  if (bounds.flops_least && bounds.flops_most) {
    double flops = 0;
    for (const auto& [pipe, count] : stated.flops) flops += count;
    check(WorkQuantity::flops, flops, *bounds.flops_least, *bounds.flops_most, kFlops);
  }
  return found;
}

}  // namespace roofline
