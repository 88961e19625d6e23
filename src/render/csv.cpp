// results.csv by RFC 4180: one row a point, timed or not; SI base units; an absent value is an empty field.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "render/csv_fields.hpp"
#include "render/render.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/network.hpp"
#include "report/profile_findings.hpp"

namespace roofline {
namespace {

std::string optional_number(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }
std::string truth(bool value) { return value ? "true" : "false"; }

/// The ids of the rules that speak of the point, most important first.
std::string rules_of(const Point& point, const Machine& machine) {
  std::string rules;
  for (const Advice& advice : advice_for(point, machine)) rules += (rules.empty() ? "" : " ") + advice.rule;
  return rules;
}

/// What a program's rows have besides, which are kinds of launches.
void append_kind(CsvRow& row, const ProfiledKind& kind, std::string_view work) {
  row.insert(row.end(), {{"launches", fmt::format("{}", kind.launches)},
                         {"total_s", csv_number(kind.total_s)},
                         {"device_index", fmt::format("{}", kind.device)},
                         {"module", csv_text(kind.module)},
                         {"line", csv_text(kind.line)},
                         {"range", csv_text(kind.range)},
                         {"operation", csv_text(kind.operation)},
                         {"backward", truth(kind.backward)},
                         {"counted", fmt::format("{}", kind.counted)},
                         {"not_counted", csv_text(kind.not_counted)},
                         {"full_name", csv_text(kind.full_name)},
                         {"time_source", std::string(to_string(kind.time_source))},
                         {"work_source", std::string(work)}});
}

/// `kind` is null for reports of suites.
CsvRow row_of(const Point& point, const Machine& machine, const ProfiledKind* kind) {
  const Level memory = main_memory(machine.device.kind);
  const Workload& workload = point.workload;
  const Bound& bound = point.bound;
  const Summary* time = point.time ? &*point.time : nullptr;
  const Verification* verification = point.verification ? &*point.verification : nullptr;
  const Counters* counters = point.counters ? &*point.counters : nullptr;
  const auto traffic = point.work.bytes.find(memory);
  const auto counted = [&](Level level) { return counters ? counted_bytes(*counters, level) : std::nullopt; };
  double flops = 0;
  if (counters) {
    for (const auto& [pipe, count] : counted_flops(*counters)) flops += count;
  }
  const auto network = network_rates(point);
  CsvRow row = {{"workload", csv_text(workload.label)},
                {"op", csv_text(workload.op)},
                {"implementation", csv_text(workload.implementation)},
                {"dtype", std::string(to_string(workload.dtype))},
                {"shape", csv_shape(workload.shape)},
                {"cache", std::string(to_string(workload.cache))},
                {"status", std::string(to_string(point.status))},
                {"reason", csv_text(point.reason)},
                {"flops", csv_number(point.work.total_flops())},
                {"bytes", traffic == point.work.bytes.end() ? "" : csv_number(traffic->second.total())},
                {"arithmetic_intensity", csv_number(bound.arithmetic_intensity)},
                {"ridge", csv_number(bound.ridge)},
                {"time_s", time ? csv_number(time->median) : ""},
                {"time_low_s", time ? csv_number(time->ci95.low) : ""},
                {"time_high_s", time ? csv_number(time->ci95.high) : ""},
                {"samples", time ? fmt::format("{}", time->samples) : ""},
                {"stop", std::string(time ? to_string(time->stop) : "")},
                {"performance_flops_per_s", time ? csv_number(point.performance()) : ""},
                {"bandwidth_bytes_per_s", time ? csv_number(point.bandwidth(memory)) : ""},
                {"algorithm_bandwidth_bytes_per_s", network ? csv_number(network->algorithm) : ""},
                {"bus_bandwidth_bytes_per_s", network ? csv_number(network->bus) : ""},
                {"bound", std::string(to_string(bound.label))},
                {"limiting_ceiling", csv_text(bound.limiting_ceiling)},
                {"limiting_regime", std::string(bound.limiting_ceiling.empty() ? "" : to_string(bound.regime))},
                {"attainable_time_s", csv_number(bound.attainable_time_s)},
                {"fraction_of_roof", csv_number(point.fraction_of_roof())},
                {"above_roof", time ? truth(point.above_roof()) : ""},
                {"suspect", truth(bound.suspect)},
                {"verification", verification ? (verification->passed ? "pass" : "fail") : ""},
                {"error", verification ? csv_number(verification->error) : ""},
                {"tolerance", verification ? csv_number(verification->tolerance) : ""},
                {"clock_hz", time ? optional_number(time->clock_hz) : ""},
                {"device", csv_text(machine.device.name)},
                {"counted_flops", counters ? csv_number(flops) : ""},
                {"counted_bytes", optional_number(counted(memory))},
                {"counted_l2_bytes", optional_number(counted(Level::l2))},
                {"occupancy", counters ? optional_number(counters->find("occupancy")) : ""},
                {"diagnosis", csv_text(rules_of(point, machine))}};
  if (kind != nullptr) append_kind(row, *kind, work_source(point));
  if (kind != nullptr) row.emplace_back("sources", csv_text(kind->sources));
  return row;
}

}  // namespace

std::string render_csv(const Report& report) {
  const ProfiledKind none;
  const auto kind_of = [&](const Point& point) -> const ProfiledKind* {
    if (!report.profile) return nullptr;
    return point.profiled ? &*point.profiled : &none;
  };
  std::string text = csv_names(row_of({}, report.machine, kind_of({})));
  for (const Point& point : report.points) text += csv_line(row_of(point, report.machine, kind_of(point)));
  return text;
}

}  // namespace roofline
