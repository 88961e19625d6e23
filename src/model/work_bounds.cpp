#include "model/work_bounds.hpp"

#include <algorithm>

namespace roofline {
namespace {

constexpr double kFlops = 2;

Traffic main_memory(const Work& work) {
  for (const Level level : {Level::hbm, Level::dram}) {
    const auto bytes = work.bytes.find(level);
    if (bytes != work.bytes.end()) return bytes->second;
  }
  return {};
}

}  // namespace

double ExecutedOperations::own_flops() const {
  double sum = 0;
  for (const auto& [pipe, count] : flops) sum += count;
  return sum;
}

ExecutedFlops executed_flops(const ExecutedOperations& executed, const Work& stated, const WorkBounds& formula) {
  // Fewer FLOPs per byte than this limit nothing.
  constexpr double kNegligible = 0.01;
  // Machine operations for one that is counted as one.
  constexpr double kOperationsOfOne = 4;
  ExecutedFlops flops;
  flops.stated = stated.total_flops();
  flops.executed = executed.own_flops() + executed.library_flops;
  const bool simple = formula.flops_most && formula.compound_operations == 0;
  flops.least = simple ? executed.own_flops() : executed.own_flops() / kOperationsOfOne;
  flops.most = flops.executed;
  if (formula.flops_least && formula.flops_most) {
    flops.least = std::max(*formula.flops_least, std::min(flops.least, *formula.flops_most));
    flops.most = std::max(*formula.flops_least, flops.most);
  }
  const bool has_integers = stated.flops.count(Pipe::int32) + stated.flops.count(Pipe::int8) > 0;
  if (has_integers || formula.integer_operations || !formula.flops_most) flops.most += executed.integers;
  if (flops.least < kNegligible * main_memory(stated).total()) flops.least = 0;
  return flops;
}

bool contradicts(const ExecutedFlops& flops) {
  return flops.stated * kFlops < flops.least || flops.stated > flops.most * kFlops;
}

std::vector<WorkMismatch> mismatches(const Work& stated, const WorkBounds& bounds) {
  constexpr double kBytes = 1.05;
  std::vector<WorkMismatch> found;
  const auto check = [&](WorkQuantity quantity, double amount, double least, double most, double factor) {
    if (amount * factor < least) found.push_back({quantity, amount, least});
    if (amount > most * factor) found.push_back({quantity, amount, most});
  };
  const Traffic traffic = main_memory(stated);
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
