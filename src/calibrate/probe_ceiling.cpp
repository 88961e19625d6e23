// Conversion of a timed case to a ceiling, independent of how it was timed.
#include "calibrate/probe_ceiling.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// Capacity of the probed level, all instances together; std::nullopt for main memory.
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

/// Relative error of a clock measured among the instructions: the chain of additions competes with them for the core's
/// ports.
constexpr double kInWorkError = 0.01;

/// Instructions per core and cycle that give the value, by a limit at the same clock that assumes some; 0: it assumes
/// none.
double instructions_per_cycle(const std::optional<Limit>& limit, double value) {
  return limit && value > 0 ? limit->assumed_issue * value / limit->value : 0;
}

/// The least plausible number of them that is no less than the measured one: fewer pipes, or one instruction in 2, 4, …
/// cycles.
double plausible_issue(double assumed, double measured) {
  const auto fewer = [](double issue) { return issue > 1 ? std::ceil(issue) - 1 : issue / 2; };
  double issue = assumed;
  while (measured <= fewer(issue) * (1 + kInWorkError)) issue = fewer(issue);
  return issue;
}

/// "one instruction per cycle", "one instruction in 32 cycles"
std::string issue_text(double issue) {
  if (issue < 1) return fmt::format("one instruction in {:g} cycles", 1 / issue);
  return issue == 1 ? "one instruction per cycle" : fmt::format("{:g} instructions per cycle", issue);
}

/// The limit at the clock among the instructions. Interruptions make that reading too low, so the issue rate is the one
/// at the faster clock, and a value above the limit is compared with the clock after the samples.
std::optional<Limit> limit_at(const Probe& probe, const Device& device, const MeasuredClock& clock, double value) {
  if (!probe.limit) return std::nullopt;
  const std::optional<double> in_work = clock.in_work ? clock.in_work : clock.after_work;
  const std::optional<double> fastest = std::max(in_work, clock.after_work);
  std::optional<Limit> limit = probe.limit(device, in_work), at_fastest = probe.limit(device, fastest);
  const double least = instructions_per_cycle(at_fastest, value);
  const double issue = least > 0 ? plausible_issue(at_fastest->assumed_issue, least) : 0;
  const double share = issue > 0 ? issue / at_fastest->assumed_issue : 1;
  if (limit && clock.in_work && value > limit->value * share * (1 + kInWorkError)) limit = at_fastest;
  if (!limit || share == 1) return limit;
  const double measured = instructions_per_cycle(limit, value);
  limit->value *= share;
  limit->basis += fmt::format(", of which {:g} %: {} ({:.2g} per core and cycle measured)", 100 * share,
                              issue_text(issue), measured);
  return limit;
}

}  // namespace

Interval rates_of(double amount, const Interval& seconds) { return {amount / seconds.high, amount / seconds.low}; }

Ceiling ceiling_of(const Probe& probe, Device& device, const ProbeCase& made, double seconds, const Interval& ci95,
                   const MeasuredClock& clock) {
  Ceiling ceiling = described(probe, made);
  ceiling.value = made.amount / seconds;
  ceiling.ci95 = rates_of(made.amount, ci95);
  ceiling.clocks = device.clocks();
  if (clock.after_work) ceiling.clocks.core_hz = clock.after_work;
  ceiling.limit = limit_at(probe, device, clock, ceiling.value);
  return ceiling;
}

Check audit_limit_of(const Probe& probe, const Ceiling& ceiling) {
  // A path below the full rate need not reach it.
  const double least = ceiling.below_peak.empty() ? probe.least_of_limit : 0;
  const bool in_work = probe.device == DeviceKind::cpu && probe.kind == CeilingKind::compute;
  return audit_limit(ceiling.value, ceiling.ci95, ceiling.limit, unit_of(ceiling.kind), least,
                     in_work ? kInWorkError : kClockScatter);
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
