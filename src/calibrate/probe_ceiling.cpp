// Conversion of a timed case to a ceiling, independent of how it was timed.
#include "calibrate/probe_ceiling.hpp"

#include <cmath>

#include "measure/audit.hpp"

namespace roofline {
namespace {

/// The caches that the working set must exceed, unless the case bypasses them.
NearerCache nearer_cache(const Probe& probe, const Device& device, const ProbeCase& made) {
  if (!std::isnan(made.nearer_cache_bytes)) return {made.nearer_cache_bytes};
  if (!probe.level) return {};
  const double reported = nearer_cache_bytes(device.info(), *probe.level);
  const auto measured = *probe.level == Level::dram ? device.measured_cache_bytes() : std::nullopt;
  return measured ? NearerCache{*measured, reported} : NearerCache{reported};
}

/// Capacity of the probed level, all instances together; nothing for main memory.
std::optional<double> own_capacity_bytes(const Probe& probe, const Device& device) {
  const double bytes = probe.level ? cache_bytes(device.info(), *probe.level) : 0;
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

/// Properties stated by a probe and a case.
Ceiling described(const Probe& probe, const ProbeCase& made) {
  Ceiling ceiling;
  ceiling.name = probe.name;
  ceiling.kind = probe.kind;
  ceiling.level = probe.level;
  ceiling.pattern = probe.pattern;
  ceiling.pipe = probe.pipe;
  ceiling.role = probe.role;
  ceiling.origin = made.origin.empty() ? probe.origin : made.origin;
  ceiling.variant = made.variant;
  ceiling.instruction = made.instruction;
  ceiling.below_peak = made.below_peak;
  ceiling.amount = made.amount;
  return ceiling;
}

}  // namespace

Interval rates_of(double amount, const Interval& seconds) { return {amount / seconds.high, amount / seconds.low}; }

Ceiling ceiling_of(const Probe& probe, Device& device, const ProbeCase& made, double seconds, const Interval& ci95,
                   std::optional<double> core_hz) {
  Ceiling ceiling = described(probe, made);
  ceiling.value = made.amount / seconds;
  ceiling.ci95 = rates_of(made.amount, ci95);
  ceiling.clocks = device.clocks();
  if (core_hz) ceiling.clocks.core_hz = core_hz;
  if (probe.limit) ceiling.limit = probe.limit(device, core_hz);
  return ceiling;
}

Check audit_limit_of(const Probe& probe, const Ceiling& ceiling) {
  // A path below the full rate need not reach it.
  return audit_limit(ceiling.value, ceiling.ci95, ceiling.limit, unit_of(ceiling.kind),
                     ceiling.below_peak.empty() ? probe.least_of_limit : 0);
}

std::vector<Check> audit_case(const Probe& probe, const Device& device, const ProbeCase& made) {
  std::vector<Check> checks = {audit_accounting(described(probe, made), made.work)};
  if (probe.kind == CeilingKind::bandwidth || probe.kind == CeilingKind::latency) {
    checks.push_back(audit_working_set(made.working_set_bytes, nearer_cache(probe, device, made),
                                       own_capacity_bytes(probe, device),
                                       probe.level == Level::dram ? kPastLastLevel : kPastNearerCache));
  }
  if (made.operands) checks.push_back(audit_operands(made.operands()));
  if (made.code) {
    const CodeSearch search = made.code();
    checks.push_back(audit_instruction(search.instruction, search.found, search.where));
  }
  return checks;
}

}  // namespace roofline
