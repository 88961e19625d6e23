// Looking up the ceiling that a piece of work is held against.
#include "model/machine.hpp"

#include <array>
#include <cmath>
#include <string_view>

namespace roofline {
namespace {

/// The share of writes in what a pattern moves, or NaN for patterns of links.
double write_share(Pattern pattern) {
  switch (pattern) {
    case Pattern::read:
      return 0.0;
    case Pattern::triad:
      return 1.0 / 3.0;
    case Pattern::copy:
      return 1.0 / 2.0;
    case Pattern::write:
      return 1.0;
    case Pattern::h2d:
    case Pattern::d2h:
      break;
  }
  return std::nan("");
}

bool is_bandwidth_at(const Ceiling& ceiling, Level level) {
  return ceiling.kind == CeilingKind::bandwidth && ceiling.level == level && ceiling.pattern.has_value();
}

}  // namespace

const Ceiling* Machine::find(std::string_view name) const {
  for (const Ceiling& ceiling : ceilings) {
    if (ceiling.name == name) return &ceiling;
  }
  return nullptr;
}

const Ceiling* Machine::compute(Pipe pipe) const {
  for (const Ceiling& ceiling : ceilings) {
    if (ceiling.kind == CeilingKind::compute && ceiling.pipe == pipe) return &ceiling;
  }
  return nullptr;
}

const Ceiling* Machine::bandwidth(Level level, const Traffic& traffic) const {
  const double wanted = traffic.total() > 0 ? traffic.write / traffic.total() : 0;
  // Shares that differ by less than this are one mix: 1/3 is not exact in binary.
  constexpr double kSameShare = 1e-9;
  const Ceiling* best = nullptr;
  double best_distance = 0;
  for (const Ceiling& ceiling : ceilings) {
    if (!is_bandwidth_at(ceiling, level)) continue;
    const double distance = std::abs(write_share(*ceiling.pattern) - wanted);
    if (std::isnan(distance)) continue;
    const bool nearer = best == nullptr || distance < best_distance - kSameShare;
    const bool tied = best != nullptr && std::abs(distance - best_distance) <= kSameShare;
    if (nearer || (tied && ceiling.value > best->value)) {
      best = &ceiling;
      best_distance = distance;
    }
  }
  return best;
}

const Ceiling* Machine::slope(Level level) const {
  const Ceiling* best = nullptr;
  for (const Ceiling& ceiling : ceilings) {
    if (is_bandwidth_at(ceiling, level) && (best == nullptr || ceiling.value > best->value)) best = &ceiling;
  }
  return best;
}

const Ceiling* Machine::launch() const {
  for (const std::string_view name : {"launch.graph", "launch.pool", "launch.stream"}) {
    if (const Ceiling* ceiling = find(name)) return ceiling;
  }
  return nullptr;
}

}  // namespace roofline
