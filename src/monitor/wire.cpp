// JSON; what is absent is left out.
#include "monitor/wire.hpp"

#include <nlohmann/json.hpp>

#include "model/error.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// Every optional number of a reading by its name, in one place for both directions.
template <class Reading, class Visit>
void for_numbers(Reading& reading, const Visit& visit) {
  visit("core_hz", reading.core_hz);
  visit("memory_hz", reading.memory_hz);
  visit("max_core_hz", reading.max_core_hz);
  visit("power_w", reading.power_w);
  visit("power_limit_w", reading.power_limit_w);
  visit("energy_j", reading.energy_j);
  visit("temperature_c", reading.temperature_c);
  visit("memory_temperature_c", reading.memory_temperature_c);
  visit("power_capped_s", reading.power_capped_s);
  visit("thermal_capped_s", reading.thermal_capped_s);
  visit("busy_fraction", reading.busy_fraction);
  visit("encoder_fraction", reading.encoder_fraction);
  visit("decoder_fraction", reading.decoder_fraction);
  visit("fan_fraction", reading.fan_fraction);
  visit("memory_used_bytes", reading.memory_used_bytes);
  visit("memory_total_bytes", reading.memory_total_bytes);
  visit("pcie_rx_bytes_per_second", reading.pcie_rx_bytes_per_second);
  visit("pcie_tx_bytes_per_second", reading.pcie_tx_bytes_per_second);
  visit("pcie_generation", reading.pcie_generation);
  visit("pcie_lanes", reading.pcie_lanes);
  visit("nvlink_links", reading.nvlink_links);
  visit("ecc_corrected", reading.ecc_corrected);
  visit("ecc_uncorrected", reading.ecc_uncorrected);
}

template <class Reading, class Visit>
void for_counters(Reading& reading, const Visit& visit) {
  visit("pcie_rx_bytes", reading.pcie_rx_bytes);
  visit("pcie_tx_bytes", reading.pcie_tx_bytes);
  visit("nvlink_rx_bytes", reading.nvlink_rx_bytes);
  visit("nvlink_tx_bytes", reading.nvlink_tx_bytes);
}

GpuProcess process_from_json(const Json& json) {
  GpuProcess process;
  process.pid = json.at("pid");
  process.name = json.value("name", "");
  if (json.contains("memory_bytes")) process.memory_bytes = json["memory_bytes"].get<double>();
  if (json.contains("sm_fraction")) process.sm_fraction = json["sm_fraction"].get<double>();
  return process;
}

}  // namespace

Json process_to_json(const GpuProcess& process) {
  Json json = {{"pid", process.pid}};
  if (!process.name.empty()) json["name"] = process.name;
  if (process.memory_bytes) json["memory_bytes"] = *process.memory_bytes;
  if (process.sm_fraction) json["sm_fraction"] = *process.sm_fraction;
  return json;
}

std::string reading_to_text(const GpuReading& reading) {
  Json json = {{"time_s", reading.time_s}};
  for_numbers(reading, [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  });
  for_counters(reading, [&](const char* name, const std::optional<WrappingCounter>& counter) {
    if (counter) json[name] = {counter->value, counter->modulus};
  });
  if (reading.limiters) json["limiters"] = *reading.limiters;
  if (reading.processes) {
    json["processes"] = Json::array();
    for (const GpuProcess& process : *reading.processes) json["processes"].push_back(process_to_json(process));
  }
  if (const auto& activity = reading.activity) {
    json["activity"] = {{"seconds", activity->seconds},
                        {"samples", activity->samples},
                        {"gap", activity->gap},
                        {"values", activity->values},
                        {"source", activity->source}};
  }
  json["absent"] = reading.absent;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

GpuReading reading_from_text(const std::string& text) try {
  const Json json = Json::parse(text);
  GpuReading reading;
  reading.time_s = json.at("time_s");
  for_numbers(reading, [&](const char* name, std::optional<double>& value) {
    if (json.contains(name)) value = json[name].get<double>();
  });
  for_counters(reading, [&](const char* name, std::optional<WrappingCounter>& counter) {
    if (json.contains(name)) counter = WrappingCounter{json[name].at(0), json[name].at(1)};
  });
  if (json.contains("limiters")) reading.limiters = json["limiters"].get<std::vector<std::string>>();
  if (json.contains("processes")) {
    reading.processes.emplace();
    for (const Json& process : json["processes"]) reading.processes->push_back(process_from_json(process));
  }
  if (json.contains("activity")) {
    const Json& activity = json["activity"];
    reading.activity.emplace();
    reading.activity->seconds = activity.at("seconds");
    reading.activity->samples = activity.at("samples");
    reading.activity->gap = activity.at("gap");
    for (const auto& [name, value] : activity.at("values").items()) reading.activity->values[name] = value;
    reading.activity->source = activity.at("source");
  }
  for (const auto& [name, reason] : json.at("absent").items()) reading.absent[name] = reason;
  return reading;
} catch (const nlohmann::json::exception& error) {
  throw Error(std::string("invalid reading of the GPU sensors: ") + error.what());
}

}  // namespace roofline
