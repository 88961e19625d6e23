#include "profile/cpu/thread_roofs.hpp"

#include <algorithm>
#include <string>

namespace roofline {
namespace {

bool is_private(const Ceiling& ceiling) {
  const std::optional<Level> level = level_of(ceiling.name);
  return ceiling.kind == CeilingKind::compute || level == Level::l1 || level == Level::l2;
}

}  // namespace

Machine roofs_of_threads(const Machine& machine, std::int64_t threads) {
  if (threads < 1 || threads >= machine.device.units) return machine;
  Machine some = machine;
  for (Ceiling& ceiling : some.ceilings) {
    const bool is_rate = ceiling.kind == CeilingKind::compute || ceiling.kind == CeilingKind::bandwidth;
    if (ceiling.role != Role::roof || !is_rate || !(ceiling.value > 0)) continue;
    double share = is_private(ceiling) ? static_cast<double>(threads) / static_cast<double>(machine.device.units) : 1;
    const Ceiling* one = machine.find(ceiling.name + std::string(kOneCore));
    if (one != nullptr && threads == 1) continue;  // bound_of() finds that one
    if (one != nullptr && one->value > 0) {
      share = std::min(1.0, static_cast<double>(threads) * one->value / ceiling.value);
    }
    ceiling.value *= share;
    ceiling.ci95 = {ceiling.ci95.low * share, ceiling.ci95.high * share};
  }
  return some;
}

}  // namespace roofline
