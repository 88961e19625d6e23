// results.csv by RFC 4180: one row a point, timed or not; SI base units; an absent value is an empty field.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "report/render.hpp"
#include "report/text.hpp"

namespace roofline {
namespace {

constexpr std::array<const char*, 31> kHeader = {"workload",
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
                                                 "device"};

/// Quoted only where it must be, quotes doubled.
std::string text_field(std::string_view text) {
  const std::string valid = clean(text);
  if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
  std::string quoted = "\"";
  for (const char c : valid) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// The shortest digits that read back as the same number.
std::string number_field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string shape_field(const Shape& shape) {
  std::string text;
  for (const auto& [name, extent] : shape.extents())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return text_field(text);
}

std::vector<std::string> time_fields(const Point& point, Level memory) {
  if (!point.time) return std::vector<std::string>(7);
  const Summary& time = *point.time;
  return {number_field(time.median),
          number_field(time.ci95.low),
          number_field(time.ci95.high),
          fmt::format("{}", time.samples),
          std::string(to_string(time.stop)),
          number_field(point.performance()),
          number_field(point.bandwidth(memory))};
}

std::vector<std::string> row(const Point& point, const DeviceInfo& device) {
  const Level memory = main_memory(device.kind);
  const Workload& workload = point.workload;
  const auto traffic = point.work.bytes.find(memory);
  std::vector<std::string> fields = {text_field(workload.label),
                                     text_field(workload.op),
                                     text_field(workload.implementation),
                                     std::string(to_string(workload.dtype)),
                                     shape_field(workload.shape),
                                     std::string(to_string(workload.cache)),
                                     std::string(to_string(point.status)),
                                     text_field(point.reason),
                                     number_field(point.work.total_flops()),
                                     traffic == point.work.bytes.end() ? "" : number_field(traffic->second.total()),
                                     number_field(point.bound.arithmetic_intensity),
                                     number_field(point.bound.ridge)};
  for (std::string& field : time_fields(point, memory)) fields.push_back(std::move(field));
  const bool timed = point.time.has_value();
  for (std::string& field : std::vector<std::string>{
           std::string(to_string(point.bound.label)), text_field(point.bound.limiting_ceiling),
           point.bound.limiting_ceiling.empty() ? std::string() : std::string(to_string(point.bound.regime)),
           number_field(point.bound.attainable_time_s), number_field(point.fraction_of_roof()),
           timed ? (point.above_roof() ? "true" : "false") : "", point.bound.suspect ? "true" : "false",
           point.verification ? (point.verification->passed ? "pass" : "fail") : "",
           point.verification ? number_field(point.verification->error) : "",
           point.verification ? number_field(point.verification->tolerance) : "",
           timed && point.time->clock_hz ? number_field(*point.time->clock_hz) : "", text_field(device.name)}) {
    fields.push_back(std::move(field));
  }
  return fields;
}

template <typename Fields>
void append_line(std::string& text, const Fields& fields) {
  bool first = true;
  for (const auto& field : fields) {
    if (!first) text += ',';
    first = false;
    text += field;
  }
  text += "\r\n";
}

}  // namespace

std::string render_csv(const Report& report) {
  std::string text;
  append_line(text, kHeader);
  for (const Point& point : report.points) append_line(text, row(point, report.machine.device));
  return text;
}

}  // namespace roofline
