// results.csv by RFC 4180: one row a point, timed or not; SI base units; an absent value is an empty field.
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "render/csv_fields.hpp"
#include "render/render.hpp"
#include "report/diagnosis/counted.hpp"

namespace roofline {
namespace {

constexpr std::array<const char*, 36> kHeader = {"workload",
                                                 "op",
                                                 "implementation",
                                                 "dtype",
                                                 "shape",
                                                 "cache",
                                                 "status",
                                                 "reason",
                                                 "flops",
                                                 "bytes",
                                                 "arithmetic_intensity",
                                                 "ridge",
                                                 "time_s",
                                                 "time_low_s",
                                                 "time_high_s",
                                                 "samples",
                                                 "stop",
                                                 "performance_flops_per_s",
                                                 "bandwidth_bytes_per_s",
                                                 "bound",
                                                 "limiting_ceiling",
                                                 "limiting_regime",
                                                 "attainable_time_s",
                                                 "fraction_of_roof",
                                                 "above_roof",
                                                 "suspect",
                                                 "verification",
                                                 "error",
                                                 "tolerance",
                                                 "clock_hz",
                                                 "device",
                                                 "counted_flops",
                                                 "counted_bytes",
                                                 "counted_l2_bytes",
                                                 "occupancy",
                                                 "diagnosis"};

std::vector<std::string> time_fields(const Point& point, Level memory) {
  if (!point.time) return std::vector<std::string>(7);
  const Summary& time = *point.time;
  return {csv_number(time.median),
          csv_number(time.ci95.low),
          csv_number(time.ci95.high),
          fmt::format("{}", time.samples),
          std::string(to_string(time.stop)),
          csv_number(point.performance()),
          csv_number(point.bandwidth(memory))};
}

/// What was counted, and the ids of the rules that speak of the point, most important first.
std::vector<std::string> counter_fields(const Point& point, const Machine& machine) {
  std::string rules;
  for (const Advice& advice : advice_for(point, machine)) rules += (rules.empty() ? "" : " ") + advice.rule;
  if (!point.counters) return {"", "", "", "", csv_text(rules)};
  double flops = 0;
  for (const auto& [pipe, count] : counted_flops(*point.counters)) flops += count;
  const auto optional = [](const std::optional<double>& value) { return value ? csv_number(*value) : std::string(); };
  return {csv_number(flops), optional(counted_bytes(*point.counters, main_memory(machine.device.kind))),
          optional(counted_bytes(*point.counters, Level::l2)), optional(point.counters->find("occupancy")),
          csv_text(rules)};
}

std::vector<std::string> row(const Point& point, const Machine& machine) {
  const DeviceInfo& device = machine.device;
  const Level memory = main_memory(device.kind);
  const Workload& workload = point.workload;
  const auto traffic = point.work.bytes.find(memory);
  std::vector<std::string> fields = {csv_text(workload.label),
                                     csv_text(workload.op),
                                     csv_text(workload.implementation),
                                     std::string(to_string(workload.dtype)),
                                     csv_shape(workload.shape),
                                     std::string(to_string(workload.cache)),
                                     std::string(to_string(point.status)),
                                     csv_text(point.reason),
                                     csv_number(point.work.total_flops()),
                                     traffic == point.work.bytes.end() ? "" : csv_number(traffic->second.total()),
                                     csv_number(point.bound.arithmetic_intensity),
                                     csv_number(point.bound.ridge)};
  for (std::string& field : time_fields(point, memory)) fields.push_back(std::move(field));
  const bool timed = point.time.has_value();
  for (std::string& field : std::vector<std::string>{
           std::string(to_string(point.bound.label)), csv_text(point.bound.limiting_ceiling),
           point.bound.limiting_ceiling.empty() ? std::string() : std::string(to_string(point.bound.regime)),
           csv_number(point.bound.attainable_time_s), csv_number(point.fraction_of_roof()),
           timed ? (point.above_roof() ? "true" : "false") : "", point.bound.suspect ? "true" : "false",
           point.verification ? (point.verification->passed ? "pass" : "fail") : "",
           point.verification ? csv_number(point.verification->error) : "",
           point.verification ? csv_number(point.verification->tolerance) : "",
           timed && point.time->clock_hz ? csv_number(*point.time->clock_hz) : "", csv_text(device.name)}) {
    fields.push_back(std::move(field));
  }
  for (std::string& field : counter_fields(point, machine)) fields.push_back(std::move(field));
  return fields;
}

}  // namespace

std::string render_csv(const Report& report) {
  std::string text;
  append_csv_line(text, {kHeader.begin(), kHeader.end()});
  for (const Point& point : report.points) append_csv_line(text, row(point, report.machine));
  return text;
}

}  // namespace roofline
