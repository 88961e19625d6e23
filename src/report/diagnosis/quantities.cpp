#include "report/diagnosis/quantities.hpp"

#include <algorithm>
#include <cmath>

#include "measure/audit.hpp"
#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/quantity_groups.hpp"
#include "report/gpu_units.hpp"
#include "report/roof_share.hpp"
#include "report/work_source.hpp"

namespace roofline {
namespace {

bool is_stated(const Point& point) { return point.profiled && point.profiled->work_source == WorkSource::stated; }

/// The pipe of a compute ceiling, of one core or of all.
std::optional<Pipe> pipe_of(const ResourceTime& resource) {
  std::string_view name = resource.ceiling;
  if (name.ends_with(kOneCore)) name.remove_suffix(kOneCore.size());
  return parse_pipe(name);
}

/// Work on another pipe than the limiting resource. Where it does not overlap fully, the row stays below its roof.
void add_second_pipe(QuantityCollector& out, const Bound& bound, double time) {
  const double attainable = bound.attainable_time_s;
  const double above_roof_s = std::max(0.0, time - attainable);
  bool first = true;
  for (const ResourceTime& resource : bound.resources) {
    const std::optional<Pipe> pipe = pipe_of(resource);
    if (resource.kind == CeilingKind::compute && pipe && bound.label == BoundLabel::memory) {
      out.set("arithmetic.need", resource.time_s / attainable);
      out.set("arithmetic.explains", resource.time_s / above_roof_s);
      out.set("second", static_cast<double>(*pipe));
      return;
    }
    if (resource.kind == CeilingKind::compute && pipe && !first) {
      out.set("second.need", resource.time_s / attainable);
      out.set("second.explains", resource.time_s / above_roof_s);
      out.set("second", static_cast<double>(*pipe));
      return;
    }
    first = false;
  }
}

/// Precision of the time. All launches of a profiled kernel are timed, so sampling statistics do not apply.
void add_measurement(QuantityCollector& out, const Point& point, const Machine& machine) {
  out.flag_is("not_cold", not_cold(point, machine));
  out.flag_is("above_roof", point.above_roof());
  out.flag_is("partly_cached", partly_cached(point, machine));
  if (point.profiled) return;
  out.flag_is("work.wrong", has_wrong_work(point));
  const Summary& time = *point.time;
  const PairedFraction* pairs = point.paired_with_roof();
  out.flag_is("paired", pairs != nullptr);
  // A drifting machine speed does not affect a paired fraction, which has its own interval.
  out.flag_is("interval.known", pairs != nullptr || time.ci95.known());
  if (pairs != nullptr) {
    out.set("interval.width", pairs->ci95.width() / pairs->fraction);
  } else if (time.ci95.known()) {
    out.set("interval.width", time.ci95.width() / time.median);
  }
  out.flag_is("drifting", pairs == nullptr && time.drifting);
  out.set("samples", static_cast<double>(time.samples));
  out.set("samples.effective", time.effective_samples);
  out.flag_is("samples.close", has_small_spread(time));
  out.set("autocorrelation", time.autocorrelation);
  out.set("time.q05", time.q05);
  out.set("time.q95", time.q95);
}

/// True if a row in L2 ran with a working set in L1.
bool has_smaller_set(const Point& point) {
  return std::ranges::any_of(point.experiments,
                             [](const Experiment& one) { return one.kind == ExperimentKind::in_l1; });
}

void add_bound(QuantityCollector& out, const Point& point, const Machine& machine) {
  const double time = time_at_roof_speed(point);
  const double fraction = point.fraction_of_roof();
  out.flag_is("roof.known", std::isfinite(fraction));
  out.set("roof.fraction", fraction);
  if (std::isfinite(fraction)) {
    // Pairs need no figure of the roof, only its probe.
    const Ceiling* const roof = machine.find(point.bound.limiting_ceiling, point.bound.regime);
    const bool only_slower =
        point.paired_with_roof() != nullptr && roof != nullptr && is_only_slower_than_before(*roof);
    out.flag_is("roof.suspect", point.bound.suspect && !only_slower);
    out.flag_is("roof.provisional", point.bound.provisional);
  }
  const bool cached = point.work.cache && point.bound.label == BoundLabel::memory;
  out.flag_is("cached", cached);
  out.flag_is("cached.near", cached && point.work.cache != Level::l3 && !has_smaller_set(point));
  if (fraction < 1) out.set("roof.missing", 1 - fraction);
  out.flag_is("memory.bound", point.bound.label == BoundLabel::memory);
  out.flag_is("compute.bound", point.bound.label == BoundLabel::compute);
  for (const ResourceTime& resource : point.bound.resources) {
    const std::optional<Level> level = level_of(resource.ceiling);
    if (resource.kind == CeilingKind::overhead) out.set("launch.share", resource.time_s / time);
    if (level == Level::pcie || level == Level::nvlink) out.set("transfer.share", resource.time_s / time);
  }
  const auto compulsory = point.work.bytes.find(main_memory(machine.device.kind));
  if (compulsory != point.work.bytes.end() && !point.work.cache) {
    out.set("traffic.by_design", 1 + point.work.extra.total() / compulsory->second.total());
    const double all = compulsory->second.total() + point.work.extra.total();
    const Ceiling* slope = machine.slope(main_memory(machine.device.kind));
    if (slope != nullptr) out.set("design.need", all / slope->value / point.bound.attainable_time_s);
  }
  // The work of a program's row is its kernel's alone and has no launches; the row is one launch.
  const Ceiling* launch = machine.launch();
  const bool launched = point.profiled && !point.profiled->graph && !point.profiled->loop;
  if (launched && launch != nullptr) out.set("launch.share", 1 / launch->value / time);
  out.flag_is("clock.known", point.time->clock_hz.has_value());
  if (point.time->clock_hz && machine.device.max_core_hz) {
    out.set("clock", *point.time->clock_hz);
    out.set("clock.share", *point.time->clock_hz / *machine.device.max_core_hz);
  }
  add_second_pipe(out, point.bound, time);
  if (std::isfinite(fraction)) {
    const double burst = bound_of(point.work, machine).attainable_time_s;
    out.set("clock.gain", (point.bound.attainable_time_s - burst) / time);
  }
}

void add_contention(QuantityCollector& out, const Point& point) {
  if (point.contention) out.set("time.lost", share_lost(*point.contention));
  if (!point.reference_rates || point.paired_with_roof() != nullptr) return;
  out.set("pace.copy", point.reference_rates->copy);
  out.set("pace.arithmetic", point.reference_rates->arithmetic);
  const std::optional<double> reference_rate = reference_rate_of_roof(point);
  out.set("pace", reference_rate);
  if (reference_rate) out.set("roof.at_pace", point.fraction_of_roof() / *reference_rate);
}

/// For a program's loop: its time at its threads' roof for that level, over its time.
std::optional<double> loop_utilization(const Point& point, CeilingKind kind, std::optional<Level> level) {
  std::optional<double> most;
  for (const ResourceTime& resource : point.bound.resources) {
    if (resource.kind != kind || !std::isfinite(resource.time_s)) continue;
    if (level && level_of(resource.ceiling) != level) continue;
    most = std::max(most.value_or(0), resource.time_s / point.time->median);
  }
  return most;
}

/// Bytes per second across a level over its highest roof. Main memory falls back to modelled bytes, and so does the
/// cache that serves a hot row.
std::optional<double> level_utilization(Level level, const Point& point, const Machine& machine,
                                        const Counters* counters) {
  if (point.profiled && point.profiled->loop) return loop_utilization(point, CeilingKind::bandwidth, level);
  const Ceiling* slope = machine.slope(level);
  if (slope == nullptr) return std::nullopt;
  const double most = slope->value * time_at_roof_speed(point);
  const auto counted = counters != nullptr ? counted_bytes(*counters, level) : std::nullopt;
  if (counted) return *counted / most;
  const Level memory = main_memory(machine.device.kind);
  if (point.work.cache && level == memory) return std::nullopt;  // the cache delivers the modelled bytes
  const auto modelled = point.work.bytes.find(level == point.work.cache ? memory : level);
  return modelled == point.work.bytes.end() ? std::nullopt : std::optional(modelled->second.total() / most);
}

/// Operations by pipe: the larger of modelled and counted.
std::map<Pipe, double> operations_of(const Work& work, const Counters* counters) {
  std::map<Pipe, double> operations = work.operations();
  if (counters == nullptr) return operations;
  for (const auto& [pipe, count] : counted_flops(*counters)) operations[pipe] = std::max(operations[pipe], count);
  return operations;
}

/// True if the row's operations are known on all pipes, also where there are none: a copy's are modelled as none.
bool knows_operations(const Point& point, const Counters* counters) {
  if (lacks_flops(point)) return false;
  if (counters != nullptr && !counted_flops(*counters).empty()) return true;
  return !point.work.flops.empty() || !point.work.bytes.empty();
}

/// The busiest pipe and its utilization; std::nullopt if no pipe with operations has a roof.
std::optional<std::pair<double, Pipe>> busiest_pipe(const Point& point, const Machine& machine,
                                                    const Counters* counters) {
  std::pair<double, Pipe> busiest = {0, dominant_pipe(point.work).value_or(Pipe::fp32)};
  if (point.profiled && point.profiled->loop) {
    busiest.first = loop_utilization(point, CeilingKind::compute, std::nullopt).value_or(0);
    return busiest;
  }
  bool known = knows_operations(point, counters);
  for (const auto& [pipe, count] : operations_of(point.work, counters)) {
    if (!(count > 0)) continue;
    const Ceiling* roof = machine.compute_at(pipe, point.time->clock_hz, point.work.threads);
    if (roof == nullptr) {
      known = false;
    } else {
      // At the clock of the row, as in the bound.
      const bool clocks = point.time->clock_hz && roof->clocks.core_hz;
      const double slower = clocks ? *roof->clocks.core_hz / *point.time->clock_hz : 1;
      busiest = std::max(busiest, {slower * count / time_at_roof_speed(point) / roof->value, pipe});
    }
  }
  return known || busiest.first > 0 ? std::optional(busiest) : std::nullopt;
}

void add_utilization(QuantityCollector& out, const Point& point, const Machine& machine, const Counters* counters) {
  const Level memory = main_memory(machine.device.kind);
  std::optional<std::pair<double, Level>> busiest;
  for (const Level level : {memory, Level::l3, Level::l2, Level::l1, Level::shared}) {
    const auto used = level_utilization(level, point, machine, counters);
    if (used && (!busiest || *used > busiest->first)) busiest = {*used, level};
    if (level == memory) out.set("memory.utilization", used);
    if (level == Level::l2) out.set("l2.utilization", used);
    if (level == Level::l1) out.set("l1.utilization", used);
  }
  const auto compute = busiest_pipe(point, machine, counters);
  if (busiest) {
    out.set("levels.utilization", busiest->first);
    out.set("level", static_cast<double>(busiest->second));
    out.set("level.need", busiest->first * time_at_roof_speed(point) / point.bound.attainable_time_s);
  }
  const bool counted_in_part =
      point.profiled && !point.profiled->complete && (point.profiled->loop || counters != nullptr);
  if (compute && !counted_in_part) {
    out.set("compute.utilization", compute->first);
    out.set("pipe", static_cast<double>(compute->second));
  }
  if (busiest && compute) {
    out.set("both.utilization", std::max(busiest->first, compute->first));
    out.set("busy.sum", busiest->first + compute->first);
  }
  out.flag_is("shared.counted", counters != nullptr && counters->find("shared.bank_conflicts").has_value());
  const bool counted_model = point.profiled && point.profiled->work_source == WorkSource::counted;
  out.flag_is("counted", counted_model || (counters != nullptr && !counters->values.empty()));
  out.flag_is("stated", is_stated(point));
}

}  // namespace

Quantities quantities_of(const Point& point, const Machine& machine, const Counters* counters) {
  QuantityCollector out;
  if (!point.time) return {};
  const auto vendor = static_cast<double>(gpu_vendor(machine.device.name));
  out.set("gpu.unit", vendor);
  out.set("gpu.units", vendor);
  out.flag_is("library", false);
  out.flag_is("warps.ready", false);
  out.flag_is("loop.counted", false);
  if (point.profiled) out.set("fusing.tool", fusing_tool_of(*point.profiled));
  add_measurement(out, point, machine);
  add_contention(out, point);
  add_network(out, point, machine);
  add_bound(out, point, machine);
  add_utilization(out, point, machine, counters);
  if (machine.device.kind == DeviceKind::cpu) add_cpu(out, point, machine, counters);
  add_loop(out, point, machine);
  add_experiments(out, point, machine);
  add_samples(out, point);
  if (counters != nullptr) {
    add_counters(out, point, machine, *counters);
    add_pipes(out, point, machine, *counters);
  }
  return out.take();
}

}  // namespace roofline
