// The members of a machine and of what it is made of, for machine.json and for the documents that hold machines.
// Internal to src/report.
#pragma once

#include <cmath>

#include "report/json/contention_json.hpp"
#include "report/json/json.hpp"
#include "report/json/json_members.hpp"
#include "report/json/json_read.hpp"

namespace roofline {

inline auto vocabulary(DeviceKind) { return std::pair(&parse_device_kind, "device kind"); }
inline auto vocabulary(Level) { return std::pair(&parse_level, "level"); }
inline auto vocabulary(Pattern) { return std::pair(&parse_pattern, "pattern"); }
inline auto vocabulary(Pipe) { return std::pair(&parse_pipe, "pipe"); }
inline auto vocabulary(CeilingKind) { return std::pair(&parse_ceiling_kind, "kind of ceiling"); }
inline auto vocabulary(Regime) { return std::pair(&parse_regime, "regime"); }
inline auto vocabulary(Role) { return std::pair(&parse_role, "role"); }
inline auto vocabulary(CheckStatus) { return std::pair(&parse_check_status, "check status"); }
inline auto vocabulary(SweepAxis) { return std::pair(&parse_sweep_axis, "axis of a sweep"); }

void members(auto& io, CacheInfo& cache) {
  io("level", cache.level);
  io("bytes", cache.bytes);
  io("instances", cache.instances);
}

void members(auto& io, Attribute& attribute) {
  io("name", attribute.name);
  io("value", attribute.value);
}

void members(auto& io, DeviceInfo& device) {
  io("kind", device.kind);
  io("index", device.index);
  io("name", device.name);
  io("identity", device.identity);
  io("units", device.units);
  io("memory_bytes", device.memory_bytes);
  io("caches", device.caches);
  io.optional("max_core_hz", device.max_core_hz);
  io.optional("memory_hz", device.memory_hz);
  io.text("driver", device.driver);
  io.text("isa", device.isa);
  io.optional("huge_page_share", device.huge_page_share);
  io("attributes", device.attributes);
}

void members(auto& io, Check& check) {
  io("name", check.name);
  io("status", check.status);
  io.text("detail", check.detail);
}

void members(auto& io, Audit& audit) {
  io.derived("status", to_string(audit.status()));
  io("checks", audit.checks);
  io.require([&](const JsonValue& json) {
    // A file that says otherwise was edited by hand.
    const JsonValue status = json["status"];
    if (status.word(parse_check_status, "audit status") != audit.status()) {
      status.fail("does not follow from the checks, which give '" + std::string(to_string(audit.status())) + "'");
    }
  });
}

void members(auto& io, Limit& limit) {
  io("value", limit.value);
  io("basis", limit.basis);
}

void members(auto& io, PastBest& best) {
  io("value", best.value);
  io("measured_at", best.measured_at);
  io.optional("core_hz", best.core_hz);
}

void members(auto& io, Clocks& clocks) {
  io.optional("core_hz", clocks.core_hz);
  io.optional("memory_hz", clocks.memory_hz);
}

void members(auto& io, Power& power) {
  io.optional("watts", power.watts);
  io.optional("joules_per_unit", power.joules_per_unit);
  io.positive("seconds", power.seconds);
  io.optional("temperature_c", power.temperature_c);
  io.optional("limiter", power.limiter);
}

void members(auto& io, Ceiling& ceiling) {
  io("name", ceiling.name);
  io("kind", ceiling.kind);
  const bool bandwidth = ceiling.kind == CeilingKind::bandwidth;
  io.optional("level", ceiling.level, bandwidth || ceiling.kind == CeilingKind::latency);
  io.optional("pattern", ceiling.pattern, bandwidth);
  io.optional("pipe", ceiling.pipe, ceiling.kind == CeilingKind::compute);
  io("value", ceiling.value);
  const std::string unit(unit_of(ceiling.kind));
  io.derived("unit", unit);
  io.require([&](const JsonValue& json) {
    if (json["unit"].text() != unit) json["unit"].fail("expected '" + unit + "'");
  });
  io.interval("ci95", ceiling.ci95);
  io.absent("ci95", "too few samples for a 95 % interval");
  io.optional("typical", ceiling.median_rate);
  io.optional("earlier", ceiling.past_best);
  io("regime", ceiling.regime);
  io.since("role", ceiling.role);
  io.text("origin", ceiling.origin);
  io.text("variant", ceiling.variant);
  io.text("instruction", ceiling.instruction);
  io.text("below_peak", ceiling.below_peak);
  io.positive("amount_per_launch", ceiling.amount);
  if (!ceiling.limit || std::isfinite(ceiling.limit->value)) io.optional("limit", ceiling.limit);
  io("audit", ceiling.audit);
  io("clocks", ceiling.clocks);
  io.unless_empty("power", ceiling.power);  // most of it is of sustained ceilings only
  io.positive("rounds", ceiling.rounds);
  io.positive("agreeing_rounds", ceiling.agreeing_rounds);
  io("samples", ceiling.samples);
  io.text("stop", ceiling.stop);
  io.optional("disturbed", ceiling.contention);
  io.text("measured_at", ceiling.measured_at);
  io.positive("took_s", ceiling.took_s);
}

void members(auto& io, SweepPoint& point) {
  io("x", point.x);
  io("value", point.value);
  io.interval("ci95", point.ci95);
  io.positive("ranks", point.ranks);
}

void members(auto& io, LatencyLine& line) {
  io("ranks", line.ranks);
  io("latency_s", line.latency_s);
  io.interval("latency_ci95", line.latency_ci95);
  io("rate", line.rate);
  io.interval("rate_ci95", line.rate_ci95);
  io("misfit", line.misfit);
}

void members(auto& io, Plateau& plateau) {
  io("from", plateau.from);
  io("to", plateau.to);
  io("value", plateau.value);
}

void members(auto& io, Sweep& sweep) {
  io("name", sweep.name);
  io("axis", sweep.axis);
  io.derived("unit", "byte/s");
  io.text("variant", sweep.variant);
  io("points", sweep.points);
  io("plateaus", sweep.plateaus);
  io("boundaries", sweep.boundaries);
  io.optional("saturates_at", sweep.saturates_at);
  io.text("measured_at", sweep.measured_at);
  if (sweep.axis == SweepAxis::message) io("lines", sweep.lines);
}

void members(auto& io, Unmeasured& missing) {
  io("name", missing.name);
  io("reason", missing.reason);
}

void members(auto& io, Machine& machine) {
  io.derived("schema", kMachineSchema);
  io.require([](const JsonValue& json) { expect_schema(json, kMachineSchema); });
  io("tool_version", machine.tool_version);
  io("measured_at", machine.measured_at);
  io("host", machine.host);
  io("quick", machine.quick);
  io("cancelled", machine.cancelled);
  io.optional("time_s", machine.time_s);
  io("device", machine.device);
  io("ceilings", machine.ceilings);
  io.since("sweeps", machine.sweeps);  // absent in files of version 0.1
  io.optional("idle_watts", machine.idle_watts);
  io("unmeasured", machine.unmeasured);
}

}  // namespace roofline
