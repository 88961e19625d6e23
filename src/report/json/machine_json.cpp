// machine.json: a device and its ceilings to and from JSON. The keys are those of docs/report-schema.md.
#include <cmath>

#include "model/error.hpp"
#include "report/json/disturbance_json.hpp"
#include "report/json/json.hpp"
#include "report/json/json_read.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

Json caches_to_json(const std::vector<CacheInfo>& caches) {
  Json result = Json::array();
  for (const CacheInfo& cache : caches) {
    result.push_back({{"level", to_string(cache.level)}, {"bytes", cache.bytes}, {"instances", cache.instances}});
  }
  return result;
}

Json audit_to_json(const Audit& audit) {
  Json checks = Json::array();
  for (const Check& check : audit.checks) {
    Json entry = {{"name", check.name}, {"status", to_string(check.status)}};
    put_text(entry, "detail", check.detail);
    checks.push_back(std::move(entry));
  }
  return {{"status", to_string(audit.status())}, {"checks", std::move(checks)}};
}

Json clocks_to_json(const Clocks& clocks) {
  Json result = Json::object();
  if (clocks.core_hz) put_number(result, "core_hz", *clocks.core_hz);
  if (clocks.memory_hz) put_number(result, "memory_hz", *clocks.memory_hz);
  return result;
}

/// Absent where nothing was read: most of it is of sustained ceilings only.
void put_power(Json& json, const Power& power) {
  Json result = Json::object();
  if (power.watts) put_number(result, "watts", *power.watts);
  if (power.joules_per_unit) put_number(result, "joules_per_unit", *power.joules_per_unit);
  if (power.seconds > 0) put_number(result, "seconds", power.seconds);
  if (power.temperature_c) put_number(result, "temperature_c", *power.temperature_c);
  if (power.limiter) result["limiter"] = *power.limiter;
  if (!result.empty()) json["power"] = std::move(result);
}

Power read_power(const JsonValue& json) {
  Power power;
  const auto found = json.find("power");
  if (!found) return power;
  power.watts = found->optional_number("watts");
  power.joules_per_unit = found->optional_number("joules_per_unit");
  power.seconds = found->optional_number("seconds").value_or(0);
  power.temperature_c = found->optional_number("temperature_c");
  if (const auto limiter = found->find("limiter")) power.limiter = limiter->text();
  return power;
}

Audit read_audit(const JsonValue& json) {
  Audit audit;
  for (const JsonValue& entry : json["checks"].elements()) {
    audit.checks.push_back({.name = entry["name"].text(),
                            .status = entry["status"].word(parse_check_status, "check status"),
                            .detail = entry.text_or("detail", "")});
  }
  // The status follows from the checks; a file that says otherwise was edited by hand.
  const JsonValue status = json["status"];
  if (status.word(parse_check_status, "audit status") != audit.status()) {
    status.fail("does not follow from the checks, which give '" + std::string(to_string(audit.status())) + "'");
  }
  return audit;
}

/// Fills the level and pattern, or the pipe, that a ceiling of its kind must have.
void read_resource(const JsonValue& json, Ceiling& ceiling) {
  switch (ceiling.kind) {
    case CeilingKind::bandwidth:
      ceiling.level = json["level"].word(parse_level, "level");
      ceiling.pattern = json["pattern"].word(parse_pattern, "pattern");
      return;
    case CeilingKind::compute:
      ceiling.pipe = json["pipe"].word(parse_pipe, "pipe");
      return;
    case CeilingKind::latency:
      ceiling.level = json["level"].word(parse_level, "level");
      return;
    case CeilingKind::overhead:
      return;
  }
}

Plateau read_plateau(const JsonValue& json) {
  return {.from = json["from"].number(), .to = json["to"].number(), .value = json["value"].number()};
}

}  // namespace

Json device_to_json(const DeviceInfo& device) {
  Json json = {{"kind", to_string(device.kind)}, {"index", device.index}, {"name", device.name},
               {"identity", device.identity},    {"units", device.units}, {"memory_bytes", device.memory_bytes}};
  json["caches"] = caches_to_json(device.caches);
  if (device.max_core_hz) put_number(json, "max_core_hz", *device.max_core_hz);
  if (device.memory_hz) put_number(json, "memory_hz", *device.memory_hz);
  put_text(json, "driver", device.driver);
  put_text(json, "isa", device.isa);
  json["attributes"] = Json::array();
  for (const Attribute& attribute : device.attributes) {
    json["attributes"].push_back({{"name", attribute.name}, {"value", attribute.value}});
  }
  return json;
}

Json ceiling_to_json(const Ceiling& ceiling) {
  Json json = {{"name", ceiling.name}, {"kind", to_string(ceiling.kind)}};
  if (ceiling.level) json["level"] = to_string(*ceiling.level);
  if (ceiling.pattern) json["pattern"] = to_string(*ceiling.pattern);
  if (ceiling.pipe) json["pipe"] = to_string(*ceiling.pipe);
  put_number(json, "value", ceiling.value);
  json["unit"] = unit_of(ceiling.kind);
  put_interval(json, "ci95", ceiling.ci95);
  if (!json.contains("ci95")) json["absent"] = {{"ci95", "too few samples for a 95 % interval"}};
  if (ceiling.typical) put_number(json, "typical", *ceiling.typical);
  json["regime"] = to_string(ceiling.regime);
  json["role"] = to_string(ceiling.role);
  put_text(json, "origin", ceiling.origin);
  put_text(json, "variant", ceiling.variant);
  put_text(json, "instruction", ceiling.instruction);
  put_text(json, "below_peak", ceiling.below_peak);
  if (ceiling.amount > 0) put_number(json, "amount_per_launch", ceiling.amount);
  if (ceiling.limit && std::isfinite(ceiling.limit->value)) {
    json["limit"] = {{"value", ceiling.limit->value}, {"basis", ceiling.limit->basis}};
  }
  json["audit"] = audit_to_json(ceiling.audit);
  json["clocks"] = clocks_to_json(ceiling.clocks);
  put_power(json, ceiling.power);
  if (ceiling.rounds > 0) {
    json["rounds"] = ceiling.rounds;
    json["agreeing_rounds"] = ceiling.agreeing_rounds;
  }
  json["samples"] = ceiling.samples;
  put_text(json, "stop", ceiling.stop);
  if (ceiling.disturbed) json["disturbed"] = disturbance_to_json(*ceiling.disturbed);
  if (ceiling.took_s > 0) put_number(json, "took_s", ceiling.took_s);
  return json;
}

Json sweep_to_json(const Sweep& sweep) {
  Json json = {{"name", sweep.name}, {"axis", to_string(sweep.axis)}, {"unit", "byte/s"}};
  put_text(json, "variant", sweep.variant);
  json["points"] = Json::array();
  for (const SweepPoint& point : sweep.points) {
    Json entry = {{"x", point.x}};
    put_number(entry, "value", point.value);
    put_interval(entry, "ci95", point.ci95);
    json["points"].push_back(std::move(entry));
  }
  json["plateaus"] = Json::array();
  for (const Plateau& plateau : sweep.plateaus) {
    json["plateaus"].push_back({{"from", plateau.from}, {"to", plateau.to}, {"value", plateau.value}});
  }
  json["boundaries"] = sweep.boundaries;
  if (sweep.saturates_at) json["saturates_at"] = *sweep.saturates_at;
  return json;
}

Json machine_to_json(const Machine& machine) {
  Json json = {{"schema", kMachineSchema}};
  json["tool_version"] = machine.tool_version;
  json["measured_at"] = machine.measured_at;
  json["host"] = machine.host;
  json["quick"] = machine.quick;
  json["cancelled"] = machine.cancelled;
  if (machine.time_s) put_number(json, "time_s", *machine.time_s);
  json["device"] = device_to_json(machine.device);
  json["ceilings"] = Json::array();
  for (const Ceiling& ceiling : machine.ceilings) json["ceilings"].push_back(ceiling_to_json(ceiling));
  json["sweeps"] = Json::array();
  for (const Sweep& sweep : machine.sweeps) json["sweeps"].push_back(sweep_to_json(sweep));
  if (machine.idle_watts) put_number(json, "idle_watts", *machine.idle_watts);
  json["unmeasured"] = Json::array();
  for (const Unmeasured& missing : machine.unmeasured) {
    json["unmeasured"].push_back({{"name", missing.name}, {"reason", missing.reason}});
  }
  return json;
}

DeviceInfo read_device(const JsonValue& json) {
  DeviceInfo device;
  device.kind = json["kind"].word(parse_device_kind, "device kind");
  device.index = static_cast<int>(json["index"].integer());
  device.name = json["name"].text();
  device.identity = json["identity"].text();
  device.units = json["units"].integer();
  device.memory_bytes = json["memory_bytes"].number();
  for (const JsonValue& cache : json["caches"].elements()) {
    device.caches.push_back({.level = cache["level"].word(parse_level, "level"),
                             .bytes = cache["bytes"].number(),
                             .instances = cache["instances"].integer()});
  }
  device.max_core_hz = json.optional_number("max_core_hz");
  device.memory_hz = json.optional_number("memory_hz");
  device.driver = json.text_or("driver", "");
  device.isa = json.text_or("isa", "");
  for (const JsonValue& attribute : json["attributes"].elements()) {
    device.attributes.push_back({attribute["name"].text(), attribute["value"].text()});
  }
  return device;
}

Ceiling read_ceiling(const JsonValue& json) {
  Ceiling ceiling;
  ceiling.name = json["name"].text();
  ceiling.kind = json["kind"].word(parse_ceiling_kind, "kind of ceiling");
  read_resource(json, ceiling);
  ceiling.value = json["value"].number();
  const JsonValue unit = json["unit"];
  if (unit.text() != unit_of(ceiling.kind)) unit.fail("expected '" + std::string(unit_of(ceiling.kind)) + "'");
  ceiling.ci95 = json.optional_interval("ci95");
  ceiling.typical = json.optional_number("typical");
  ceiling.regime = json["regime"].word(parse_regime, "regime");
  if (const auto role = json.find("role")) ceiling.role = role->word(parse_role, "role");
  ceiling.origin = json.text_or("origin", "");
  ceiling.variant = json.text_or("variant", "");
  ceiling.instruction = json.text_or("instruction", "");
  ceiling.below_peak = json.text_or("below_peak", "");
  ceiling.amount = json.optional_number("amount_per_launch").value_or(0);
  if (const auto limit = json.find("limit")) {
    ceiling.limit = Limit{.value = (*limit)["value"].number(), .basis = (*limit)["basis"].text()};
  }
  ceiling.audit = read_audit(json["audit"]);
  const JsonValue clocks = json["clocks"];
  ceiling.clocks = {.core_hz = clocks.optional_number("core_hz"), .memory_hz = clocks.optional_number("memory_hz")};
  ceiling.power = read_power(json);
  if (const auto rounds = json.find("rounds")) ceiling.rounds = rounds->integer();
  if (const auto agreeing = json.find("agreeing_rounds")) ceiling.agreeing_rounds = agreeing->integer();
  ceiling.samples = json["samples"].integer();
  ceiling.stop = json.text_or("stop", "");
  if (const auto seen = json.find("disturbed")) ceiling.disturbed = read_disturbance(*seen);
  ceiling.took_s = json.number_or("took_s", 0);
  return ceiling;
}

Sweep read_sweep(const JsonValue& json) {
  Sweep sweep;
  sweep.name = json["name"].text();
  sweep.axis = json["axis"].word(parse_sweep_axis, "axis of a sweep");
  sweep.variant = json.text_or("variant", "");
  for (const JsonValue& point : json["points"].elements()) {
    sweep.points.push_back(
        {.x = point["x"].number(), .value = point["value"].number(), .ci95 = point.optional_interval("ci95")});
  }
  for (const JsonValue& plateau : json["plateaus"].elements()) sweep.plateaus.push_back(read_plateau(plateau));
  for (const JsonValue& boundary : json["boundaries"].elements()) sweep.boundaries.push_back(boundary.number());
  sweep.saturates_at = json.optional_number("saturates_at");
  return sweep;
}

Machine read_machine(const JsonValue& json) {
  expect_schema(json, kMachineSchema);
  Machine machine;
  machine.tool_version = json["tool_version"].text();
  machine.measured_at = json["measured_at"].text();
  machine.host = json["host"].text();
  machine.quick = json["quick"].boolean();
  machine.cancelled = json["cancelled"].boolean();
  machine.time_s = json.optional_number("time_s");
  machine.device = read_device(json["device"]);
  for (const JsonValue& ceiling : json["ceilings"].elements()) machine.ceilings.push_back(read_ceiling(ceiling));
  if (const auto sweeps = json.find("sweeps")) {  // absent in files of version 0.1
    for (const JsonValue& sweep : sweeps->elements()) machine.sweeps.push_back(read_sweep(sweep));
  }
  machine.idle_watts = json.optional_number("idle_watts");
  for (const JsonValue& missing : json["unmeasured"].elements()) {
    machine.unmeasured.push_back({missing["name"].text(), missing["reason"].text()});
  }
  return machine;
}

}  // namespace roofline
