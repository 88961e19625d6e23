#include <algorithm>
#include <array>
#include <cmath>

#include "report/cpu_findings.hpp"
#include "report/diagnosis/quantity_groups.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

/// Cycles per divided element, those of the faster of divisions in scalar and in 256-bit instructions: instruction
/// tables of Agner Fog, Skylake to Zen 4. Square roots take longer.
struct DivideCycles {
  double scalar = 0, vector = 0;
};
constexpr DivideCycles kFp64 = {4, 2}, kFp32 = {3, 0.6};

/// Clock of a core by its roof of arithmetic: two fused multiply-adds of full width per cycle.
std::optional<double> clock_by_roof(const Point& point, const Machine& machine, double lanes) {
  const Ceiling* roof = machine.compute_at(dominant_pipe(point.work).value_or(Pipe::fp64), std::nullopt, 1);
  if (roof == nullptr || !(roof->value > 0)) return std::nullopt;
  const bool of_one = roof->name.ends_with(kOneCore) || machine.device.units <= 1;
  const double cores = of_one ? 1 : static_cast<double>(machine.device.units);
  constexpr double kFlopsPerLane = 4;
  return roof->value / cores / (kFlopsPerLane * lanes);
}

/// Least time that its divisions and roots need, of the time of its threads.
std::optional<double> divides_need(const Point& point, const Machine& machine, double lanes) {
  const auto divides = point.counters->sum({"divides", "roots"});
  const auto hz = clock_by_roof(point, machine, lanes);
  const double thread_s = point.profiled->loop->thread_s;
  if (!divides || !hz || !(thread_s > 0)) return std::nullopt;
  const DivideCycles& cycles = dominant_pipe(point.work) == Pipe::fp32 ? kFp32 : kFp64;
  constexpr double kHalf = 0.5;
  return *divides * (vector_share(point, "scalar") > kHalf ? cycles.scalar : cycles.vector) / *hz / thread_s;
}

/// The highest clock at which the machine was seen.
std::optional<double> highest_clock(const Machine& machine) {
  std::optional<double> highest = machine.device.max_core_hz;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.clocks.core_hz) highest = std::max(highest.value_or(0), *ceiling.clocks.core_hz);
  }
  return highest;
}

/// Least time that operations which wait for the iteration before need, of the time of its threads.
std::optional<double> chain_need(const Point& point, const Machine& machine, double lanes) {
  const auto cycles = point.counters->find("chain.cycles");
  std::optional<double> hz = highest_clock(machine);
  if (!hz) hz = clock_by_roof(point, machine, lanes);
  const double thread_s = point.profiled->loop->thread_s;
  if (!cycles || !hz || !(thread_s > 0)) return std::nullopt;
  return std::min(1.0, *cycles / *hz / thread_s);
}

/// Time that the bytes beyond L1 need at their roofs, of the row's time.
double memory_need(const Point& point) {
  double longest = 0;
  for (const ResourceTime& resource : point.bound.resources) {
    const bool beyond = resource.kind == CeilingKind::bandwidth && level_of(resource.ceiling) != Level::l1;
    if (beyond && std::isfinite(resource.time_s)) longest = std::max(longest, resource.time_s);
  }
  return longest / point.time->median;
}

void add_lines(QuantityCollector& out, const Counters& counters) {
  const auto bytes = counters.sum({"load.bytes", "store.bytes"});
  const auto fills = counters.find("l1.fills"), line = counters.find("cache.line_bytes");
  if (bytes && fills && line && *fills > 0) out.set("loop.line_use", *bytes / (*fills * *line));
  const auto accesses = counters.sum({"loads", "stores"});
  if (accesses > 0) out.set("loop.falsely_shared", counters.find("falsely.shared").value_or(0) / *accesses);
  const auto all = counters.sum({"stride.line", "stride.next", "stride.other"});
  if (all > 0) out.set("loop.other", counters.find("stride.other").value_or(0) / *all);
}

}  // namespace

void add_loop(QuantityCollector& out, const Point& point, const Machine& machine) {
  if (!point.profiled || !point.profiled->loop || !point.time) return;
  const CpuLoop& loop = *point.profiled->loop;
  out.set("loop.together", loop.together);
  out.set("loop.program_threads", static_cast<double>(loop.at_once));
  if (loop.busiest > 0) out.set("loop.busiest", loop.busiest);
  if (loop.at_once > 1) {
    const double most = 1 - std::max(1.0, loop.together) / static_cast<double>(loop.at_once);
    out.set("loop.parallel_saving", std::min(most, saving_on_all_threads(point, machine).value_or(most)));
  }
  if (!point.counters) return;
  out.set("loop.scalar_share", vector_share(point, "scalar"));
  out.set("loop.memory_need", memory_need(point));
  out.flag_is("loop.beyond_l1", level_of(point.bound.limiting_ceiling).value_or(Level::l1) != Level::l1);
  add_lines(out, *point.counters);
  const auto lanes = out.get("lanes");
  if (!lanes) return;
  out.set("loop.divides_need", divides_need(point, machine, *lanes));
  out.set("loop.chain_need", chain_need(point, machine, *lanes));
}

}  // namespace roofline
