// Pairs up amounts; the diagnosis is in diagnosis.cpp.
#include "report/diagnosis/counted.hpp"

#include "report/diagnosis/cause_lines.hpp"

#include <map>

#include "model/nan.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

void add_pipes(std::vector<CountedAmount>& rows, const Point& point) {
  constexpr double kVisible = 1e-3;
  const std::map<Pipe, double> modelled = point.work.operations();
  const std::map<Pipe, double> counted = counted_flops(*point.counters);
  double all = 0;
  for (const auto& [pipe, count] : counted) all += count;
  for (const auto& [pipe, count] : counted) {
    const auto model = modelled.find(pipe);
    const bool known = model != modelled.end() && model->second > 0;
    if (!known && count <= kVisible * all) continue;
    rows.push_back({std::string(to_string(pipe)), CeilingKind::compute, known ? model->second : kNaN, count,
                    known ? count / model->second : kNaN});
  }
  // A modelled pipe that was not counted gets a row, because not counted differs from none.
  for (const auto& [pipe, count] : point.work.flops) {
    if (counted.empty() || counted.contains(pipe) || !(count > 0)) continue;
    rows.push_back({std::string(to_string(pipe)), CeilingKind::compute, count, kNaN, kNaN});
  }
}

void add_levels(std::vector<CountedAmount>& rows, const Point& point, DeviceKind device) {
  const Level memory = main_memory(device);
  const auto modelled = point.work.bytes.find(memory);
  const double compulsory = modelled == point.work.bytes.end() ? kNaN : modelled->second.total();
  for (const Level level : {memory, Level::l3, Level::l2, Level::l1, Level::shared}) {
    const auto counted = counted_bytes(*point.counters, level);
    if (!counted || (*counted == 0 && level != memory)) continue;
    rows.push_back({std::string(to_string(level)), CeilingKind::bandwidth, level == memory ? compulsory : kNaN,
                    *counted, compulsory > 0 ? *counted / compulsory : kNaN});
  }
}

}  // namespace

std::string_view unit_of(const CountedAmount& amount) {
  if (amount.kind != CeilingKind::compute) return "B";
  const auto pipe = parse_pipe(amount.name);
  return pipe && unit_of(*pipe) == "OP/s" ? "OP" : "FLOP";
}

std::vector<CountedAmount> counted_against_model(const Point& point, DeviceKind device) {
  std::vector<CountedAmount> rows;
  if (!point.counters) return rows;
  add_pipes(rows, point);
  add_levels(rows, point, device);
  return rows;
}

double counted_intensity(const Point& point, Level level) {
  if (!point.counters) return kNaN;
  const auto bytes = counted_bytes(*point.counters, level);
  if (!bytes || *bytes <= 0) return kNaN;
  double flops = 0;
  for (const auto& [pipe, count] : counted_flops(*point.counters)) {
    if (point.work.flops.contains(pipe)) flops += count;
  }
  return flops > 0 ? flops / *bytes : kNaN;
}

std::vector<Advice> advice_for(const Point& point, const Machine& machine) {
  std::vector<Advice> advice =
      diagnose(quantities_of(point, machine, point.counters ? &*point.counters : nullptr), machine.device.kind);
  add_lines(advice, point);
  return advice;
}

}  // namespace roofline
