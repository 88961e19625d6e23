// Messages are JSON, with ceilings in the format of machine.json.
#include "calibrate/messages.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/json/json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// Intensity is infinite for a compute probe without memory accesses, which JSON cannot represent.
Json intensity_to_json(double intensity) {
  return std::isfinite(intensity) ? Json(intensity) : Json(std::isinf(intensity) ? "inf" : "none");
}

double intensity_from_json(const Json& json) {
  if (json.is_number()) return json;
  return json == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
}

Json measured_to_json(const MeasuredProbe& measured) {
  Json json = {{"ceiling", ceiling_to_json(measured.ceiling)}, {"intensity", intensity_to_json(measured.intensity)}};
  if (measured.sustained) json["sustained"] = ceiling_to_json(*measured.sustained);
  if (measured.pipe) json["pipe"] = to_string(*measured.pipe);
  return json;
}

MeasuredProbe measured_from_json(const Json& json) {
  MeasuredProbe measured;
  measured.ceiling = ceiling_from_json(json["ceiling"]);
  measured.intensity = intensity_from_json(json["intensity"]);
  if (json.contains("pipe")) measured.pipe = parse_pipe(json["pipe"].get<std::string>());
  return measured;
}

}  // namespace

void MessageWriter::current(const std::string& probe, std::int64_t place, std::int64_t round) const {
  send_(Json{{"probe", probe}, {"place", place}, {"round", round}}.dump());
}

void MessageWriter::device(const DeviceInfo& info) const { send_(Json{{"device", device_to_json(info)}}.dump()); }

void MessageWriter::idle_watts(double watts) const { send_(Json{{"idle_watts", watts}}.dump()); }

void MessageWriter::unusable(const std::string& reason, const std::string& hint) const {
  send_(Json{{"unusable", reason}, {"hint", hint}}.dump());
}

void MessageWriter::outcome(const std::string& probe, const ProbeOutcome& outcome) const {
  Json json = Json::object();
  if (const auto* measured = std::get_if<MeasuredProbe>(&outcome)) {
    json = measured_to_json(*measured);
  } else if (const auto* sweep = std::get_if<Sweep>(&outcome)) {
    json["sweep"] = sweep_to_json(*sweep);
  } else {
    json["unmeasured"] = std::get<std::string>(outcome);
  }
  json["of"] = probe;
  send_(json.dump());
}

void MessageWriter::no_time(const std::string& name) const {
  send_(Json{{"of", name}, {"unmeasured", "time budget exhausted; raise it with --time"}, {"no_time", true}}.dump());
}

void MessageWriter::sustained(const std::string& probe, const Ceiling& ceiling) const {
  send_(Json{{"of", probe}, {"sustained", ceiling_to_json(ceiling)}}.dump());
}

void MessageReader::read(std::string_view message) {
  const Json json = Json::parse(message);
  if (json.contains("probe")) {
    current = json["probe"];
    place = json["place"];
    round = json["round"];
  }
  if (json.contains("device")) machine.device = device_from_json(json["device"]);
  if (json.contains("idle_watts")) machine.idle_watts = json["idle_watts"].get<double>();
  if (json.contains("unusable")) {
    unusable = json["unusable"];
    hint = json["hint"];
  }
  if (!json.contains("of")) return;
  const std::string probe = json["of"];
  if (json.contains("unmeasured")) {
    machine.unmeasured.push_back({probe, json["unmeasured"], json.value("no_time", false)});
  }
  if (json.contains("sweep")) sweeps.insert_or_assign(probe, sweep_from_json(json["sweep"]));
  if (json.contains("ceiling")) {
    MeasuredProbe now = measured_from_json(json);
    now.sustained = std::move(measured[probe].sustained);
    measured[probe] = std::move(now);
  }
  if (json.contains("sustained")) measured[probe].sustained = ceiling_from_json(json["sustained"]);
}

}  // namespace roofline
