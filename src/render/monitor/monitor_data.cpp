// A sample for programs: a line of JSON, metrics.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "monitor/wire.hpp"
#include "render/monitor/monitor_render.hpp"
#include "render/prometheus_text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

Json share_to_json(const RoofShare& share) {
  Json json = {{"resource", share.resource},
               {"roof", share.roof},
               {"per_second", share.per_s},
               {"roof_per_second", share.roof_per_s},
               {"share", share.share()}};
  if (!share.basis.empty()) json["basis"] = share.basis;
  return json;
}

Json device_sample_to_json(const DeviceSample& sample) {
  Json json = {{"device", sample.device}, {"kind", to_string(sample.kind)}, {"name", sample.name}};
  if (!sample.uuid.empty()) json["uuid"] = sample.uuid;
  if (!sample.pci.empty()) json["pci"] = sample.pci;
  json["seconds"] = sample.seconds;
  json["values"] = Json::object();
  for (const Quantity& quantity : quantities()) {
    if (const auto value = sample.find(quantity.name)) json["values"][std::string(quantity.name)] = *value;
  }
  json["roofs"] = Json::array();
  for (const RoofShare& share : sample.roofs) json["roofs"].push_back(share_to_json(share));
  if (!sample.roofs_measured_at.empty()) json["roofs_measured_at"] = sample.roofs_measured_at;
  if (sample.limited_by) json["limited_by"] = *sample.limited_by;
  if (sample.processes) {
    json["processes"] = Json::array();
    for (const GpuProcess& process : *sample.processes) json["processes"].push_back(process_to_json(process));
  }
  if (!sample.notes.empty()) json["notes"] = sample.notes;
  if (!sample.absent.empty()) json["absent"] = sample.absent;
  return json;
}

/// Labels that identify a device of a machine.
std::string monitor_labels(const Sample& sample, const DeviceSample& device) {
  std::string labels = fmt::format("host=\"{}\",device=\"{}\",index=\"{}\"", prometheus_label(sample.host),
                                   prometheus_label(device.name), prometheus_label(device.device));
  if (!device.uuid.empty()) labels += fmt::format(",uuid=\"{}\"", prometheus_label(device.uuid));
  return labels;
}

std::string monitored_process_labels(const GpuProcess& process) {
  return fmt::format(",pid=\"{}\",process=\"{}\"", process.pid, prometheus_label(process.name));
}

}  // namespace

std::string render_monitor_json(const Sample& sample) {
  Json json = {{"schema", "roofline.monitor/1"},
               {"time", sample.time},
               {"host", sample.host},
               {"interval_s", sample.interval_s},
               {"devices", Json::array()}};
  for (const DeviceSample& device : sample.devices) json["devices"].push_back(device_sample_to_json(device));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render_monitor_prometheus(const Sample& sample) {
  std::string text;
  const auto for_devices = [&](const std::string& name, const std::string& help, const char* type, const auto& add) {
    Gauge metric(text, "roofline_monitor_" + name, help, type);
    for (const DeviceSample& device : sample.devices) add(metric, device, monitor_labels(sample, device));
  };
  for_devices("up", "1; 0 if the device gave no reading.", "gauge",
              [](Gauge& metric, const DeviceSample& device, const std::string& labels) {
                metric.add(labels, device.absent.contains("device") ? 0 : 1);
              });
  for (const Quantity& quantity : quantities()) {
    for_devices(std::string(quantity.name), std::string(quantity.help), quantity.counter ? "counter" : "gauge",
                [&](Gauge& metric, const DeviceSample& device, const std::string& labels) {
                  if (const auto value = device.find(quantity.name)) metric.add(labels, *value);
                });
  }
  for_devices("share_of_roof", "Rate of a resource over its measured roof.", "gauge",
              [](Gauge& metric, const DeviceSample& device, const std::string& labels) {
                for (const RoofShare& share : device.roofs) {
                  metric.add(fmt::format("{},resource=\"{}\",roof=\"{}\"", labels, prometheus_label(share.resource),
                                         prometheus_label(share.roof)),
                             share.share());
                }
              });
  for_devices("limited", "1 for each reason that limits the clock now.", "gauge",
              [](Gauge& metric, const DeviceSample& device, const std::string& labels) {
                if (!device.limited_by) return;
                for (const std::string& reason : *device.limited_by) {
                  metric.add(fmt::format("{},reason=\"{}\"", labels, prometheus_label(reason)), 1);
                }
              });
  for_devices("process_memory_bytes", "A process's memory on the device.", "gauge",
              [](Gauge& metric, const DeviceSample& device, const std::string& labels) {
                if (!device.processes) return;
                for (const GpuProcess& process : *device.processes) {
                  if (process.memory_bytes)
                    metric.add(labels + monitored_process_labels(process), *process.memory_bytes);
                }
              });
  for_devices("process_sm_fraction", "Share of the time in which a process used the SMs.", "gauge",
              [](Gauge& metric, const DeviceSample& device, const std::string& labels) {
                if (!device.processes) return;
                for (const GpuProcess& process : *device.processes) {
                  if (process.sm_fraction) metric.add(labels + monitored_process_labels(process), *process.sm_fraction);
                }
              });
  return text;
}

}  // namespace roofline
