#include "project/what_if.hpp"

#include <algorithm>
#include <cmath>

#include "project/energy.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

void scale(Ceiling& ceiling, double factor) {
  ceiling.value *= factor;
  ceiling.ci95 = {ceiling.ci95.low * factor, ceiling.ci95.high * factor};
  if (ceiling.clocks.core_hz && follows_core_clock(ceiling)) *ceiling.clocks.core_hz *= factor;
}

/// Clock there over clock here of a sustained roof under another power limit.
double clock_ratio(const Machine& machine, const Ceiling& sustained, double watts) {
  const double idle = machine.idle_watts.value_or(0), used = *sustained.power.watts;
  const double ratio = std::cbrt(std::max(watts - idle, 0.0) / (used - idle));
  if (ratio <= 1) return ratio;
  if (sustained.power.limiter != kPowerCap) return 1;
  const Ceiling* const burst = machine.find(sustained.name, Regime::burst);
  return burst == nullptr ? 1 : std::min(ratio, std::max(1.0, burst->value / sustained.value));
}

}  // namespace

std::size_t scale_ceilings(Machine& machine, std::string_view glob, double factor) {
  std::size_t scaled = 0;
  for (Ceiling& ceiling : machine.ceilings) {
    if (!matches_glob(ceiling.name, glob)) continue;
    ceiling.value *= factor;
    ceiling.ci95 = {ceiling.ci95.low * factor, ceiling.ci95.high * factor};
    ++scaled;
  }
  return scaled;
}

bool set_core_clock(Machine& machine, double hz) {
  constexpr double kHeldBack = 0.98;
  if (!machine.device.max_core_hz || !(hz > 0)) return false;
  const double highest = *machine.device.max_core_hz;
  for (Ceiling& ceiling : machine.ceilings) {
    if (!follows_core_clock(ceiling)) continue;
    const double own = ceiling.clocks.core_hz.value_or(highest);
    const bool limited = own < kHeldBack * highest;
    if (!(limited && hz >= own)) scale(ceiling, hz / (limited ? own : highest));
  }
  machine.device.max_core_hz = hz;
  return true;
}

bool set_power_limit(Machine& machine, double watts) {
  const Machine before = machine;
  bool known = false;
  for (const Ceiling& sustained : before.ceilings) {
    if (sustained.regime != Regime::sustained || !sustained.power.watts) continue;
    if (*sustained.power.watts <= before.idle_watts.value_or(0)) continue;
    known = true;
    const double ratio = follows_core_clock(sustained) ? clock_ratio(before, sustained, watts) : 1;
    for (Ceiling& ceiling : machine.ceilings) {
      if (ceiling.name != sustained.name) continue;
      if (ceiling.regime == Regime::sustained || ratio < 1) scale(ceiling, ratio);
      const double idle = before.idle_watts.value_or(0), above_idle = *sustained.power.watts - idle;
      if (ceiling.power.watts) ceiling.power.watts = std::min(idle + above_idle * std::pow(ratio, 3), watts);
    }
  }
  if (known) set_power_limit_attribute(machine.device, watts);
  return known;
}

bool set_sms(Machine& machine, std::int64_t count) {
  if (machine.device.units <= 0) return false;
  const double factor = static_cast<double>(count) / static_cast<double>(machine.device.units);
  for (Ceiling& ceiling : machine.ceilings) {
    const bool on_sms =
        ceiling.kind == CeilingKind::compute || ceiling.level == Level::l1 || ceiling.level == Level::shared;
    if (!on_sms || ceiling.kind == CeilingKind::latency) continue;
    ceiling.value *= factor;
    ceiling.ci95 = {ceiling.ci95.low * factor, ceiling.ci95.high * factor};
  }
  for (CacheInfo& cache : machine.device.caches) {
    if (cache.level == Level::l1 || cache.level == Level::shared) cache.instances = count;
  }
  machine.device.units = count;
  return true;
}

}  // namespace roofline
