#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/cpu_findings.hpp"
#include "report/diagnosis/quantity_groups.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

/// Clock of a core by its roof of arithmetic: two fused multiply-adds of full width per cycle.
std::optional<double> clock_by_roof(const Point& point, const Machine& machine, double lanes) {
  const Ceiling* roof = machine.compute_at(dominant_pipe(point.work).value_or(Pipe::fp64), std::nullopt, 1);
  if (roof == nullptr || !(roof->value > 0)) return std::nullopt;
  const bool of_one = roof->name.ends_with(kOneCore) || machine.device.units <= 1;
  const double cores = of_one ? 1 : static_cast<double>(machine.device.units);
  constexpr double kFlopsPerLane = 4;
  return roof->value / cores / (kFlopsPerLane * lanes);
}

/// Elements of 64 bits in a vector.
double fp64_lanes(std::string_view isa) { return isa.starts_with("avx512") ? 8 : isa.starts_with("avx") ? 4 : 2; }

/// The highest clock at which the machine was seen.
std::optional<double> highest_clock(const Machine& machine) {
  std::optional<double> highest = machine.device.max_core_hz;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.clocks.core_hz) highest = std::max(highest.value_or(0), *ceiling.clocks.core_hz);
  }
  return highest;
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

void add_ratios(QuantityCollector& out, const Counters& counters) {
  const auto count_of = [&](const char* id) { return counters.find(id).value_or(0); };
  const auto bytes = counters.sum({"load.bytes", "store.bytes"});
  const double fills = count_of("l1.fills"), line = count_of("cache.line_bytes");
  if (bytes && fills > 0 && line > 0) {
    // Bytes that are accessed several times are used once; where an operand skips some, its accesses tell how many.
    const double accessed = count_of("l1.used") > 0 ? std::min(*bytes, count_of("l1.used")) : *bytes;
    out.set("loop.line_use", accessed / (fills * line));
  }
  const auto accesses = counters.sum({"loads", "stores"});
  if (accesses > 0) {
    out.set("loop.falsely_shared", count_of("falsely.shared") / *accesses);
    out.set("loop.walks", count_of("page.walks") / *accesses);
    out.set("loop.misses", fills / *accesses);
  }
  const auto all = counters.sum({"stride.line", "stride.next", "stride.other"});
  if (all > 0) out.set("loop.other", count_of("stride.other") / *all);
  if (const double stride = std::abs(count_of("stride.bytes")); stride > 0) out.set("loop.stride", stride);
  if (const double branches = count_of("branches"); branches > 0) {
    out.set("loop.mispredicted", count_of("mispredicted") / branches);
  }
  if (const double products = count_of("products"); products > 0) {
    out.set("loop.subnormals", count_of("subnormals") / products);
  }
  if (const double uses = count_of("string.uses"); uses > 0) {
    out.set("loop.string_bytes", count_of("string.bytes") / uses);
  }
}

/// Least cycles of loads of which each takes its address from the one before: those that miss L1 wait for the next
/// levels, of lines that no prefetcher guesses.
double load_chain_cycles(const Counters& counters) {
  const auto count_of = [&](const char* id) { return counters.find(id).value_or(0); };
  // Cycles from load to use in L1, and the least more of current CPUs for each level further out.
  constexpr double kL1 = 4, kL2 = 8, kL3 = 35, kMemory = 180;
  const double loads = count_of("chain.loads");
  const double far = count_of("stride.other"), near = count_of("stride.next");
  const auto misses = [&](const char* fills, double each) { return std::min(loads, count_of(fills)) * each; };
  const double waits = misses("l1.fills", kL2) + misses("l2.fills", kL3) + misses("l3.fills", kMemory);
  return loads * kL1 + (far > 0 ? far / (far + near) * waits : 0);
}

/// The average width of its arithmetic as a share of the CPU's vectors, and the share of the time that the pipes need
/// at that width, if all of it is fused multiply-adds: a lower bound.
void add_width(QuantityCollector& out, const Point& point) {
  const std::optional<double> rate = out.get("loop.scalar_rate"), lanes = out.get("lanes");
  const double scalar = vector_share(point, "scalar");
  if (!rate || !lanes || !std::isfinite(scalar)) return;
  const double bits = point.work.flops.contains(Pipe::fp64) && !point.work.flops.contains(Pipe::fp32) ? 64 : 32;
  double width = scalar, need = scalar;  // in elements
  for (const auto& [name, of_vector] : {std::pair("128", 128.), std::pair("256", 256.)}) {
    const double share = vector_share(point, name);
    width += share * of_vector / bits;
    need += share * bits / of_vector;
  }
  out.set("loop.width", width / *lanes);
  out.set("loop.width_need", std::min(1.0, *rate * need));
}

/// Shares of the time of its threads that counts need, by cycles.
void add_cycles(QuantityCollector& out, const Point& point, const Machine& machine, double lanes) {
  std::optional<double> hz = highest_clock(machine);
  if (!hz) hz = clock_by_roof(point, machine, lanes);
  const CpuLoop& loop = *point.profiled->loop;
  if (!hz || !(loop.thread_s > 0)) return;
  const double cycles = *hz * loop.thread_s;
  // Counts of one run and the time of another; no core executes as many instructions.
  constexpr double kMostPerCycle = 10;
  const double per_cycle = point.counters->find("instructions").value_or(0) / cycles;
  if (per_cycle > kMostPerCycle) {
    out.set("loop.mismatch", per_cycle);
    return;
  }
  const auto share = [&](const char* id, double each) {
    return std::min(1.0, point.counters->find(id).value_or(0) * each / cycles);
  };
  // Instruction tables of Agner Fog, Ice Lake to Zen 4; older CPUs take several times as long.
  constexpr double kIntegerDivision = 6;
  out.set("loop.divides_need", share("divide.cycles", 1));
  out.set("loop.integer_divides_need", share("integer.divides", kIntegerDivision));
  // A chain does not limit the loop if its roof, or the pipes at the vector width that it uses, need as long.
  constexpr double kClearly = 1.25;
  const double chain = share("chain.cycles", 1);
  const double pipes = out.get("loop.width_need").value_or(0);
  if (chain >= out.get("roof.fraction").value_or(0) && chain >= kClearly * pipes) out.set("loop.chain_need", chain);
  out.set("loop.load_chain_need", std::min(1.0, load_chain_cycles(*point.counters) / cycles));
  // The fewest of any CPU: a line that no other core has. One lane of a conversion of two or more per cycle.
  constexpr double kAtomic = 6, kConversion = 0.25;
  out.set("loop.atomics_need", share("atomics", kAtomic));
  out.set("loop.conversions_need", share("conversions", kConversion));
  constexpr double kRefill = 13;
  out.set("loop.mispredictions_need", share("mispredicted", kRefill));
  const double subnormals = point.counters->find("subnormals").value_or(0);
  if (subnormals > 0) out.set("loop.subnormal_cycles", cycles / subnormals);
  out.set("loop.instructions", per_cycle);
}

/// Counts of a part of the run: what they tell about each other, without the time.
void add_partial(QuantityCollector& out, const Counters& counters) {
  add_ratios(out, counters);
  out.flag_is("loop.partial", true);
  // Few CPUs execute more instructions per cycle for long.
  constexpr double kPerCycle = 4;
  const double divisions = counters.find("divide.cycles").value_or(0);
  const double rest = counters.find("instructions").value_or(0) / kPerCycle;
  if (divisions > 0) out.set("loop.divide_share", divisions / (divisions + rest));
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
  if (!point.profiled->complete) return add_partial(out, *point.counters);
  out.set("loop.scalar_share", vector_share(point, "scalar"));
  out.set("loop.memory_need", memory_need(point));
  out.flag_is("loop.beyond_l1", level_of(point.bound.limiting_ceiling).value_or(Level::l1) != Level::l1);
  add_ratios(out, *point.counters);
  out.flag_is("loop.counted", true);
  out.flag_is("library", !point.profiled->module.empty());
  if (loop.iterations > 0) {
    out.set("loop.calls", point.counters->find("calls").value_or(0) / (loop.iterations + loop.entries));
  }
  add_width(out, point);
  add_cycles(out, point, machine, out.get("lanes").value_or(fp64_lanes(machine.device.isa)));
  // A core that executes so much does not wait for loads.
  constexpr double kBusyCore = 2;
  out.flag_is("loop.busy", out.get("loop.instructions").value_or(0) > kBusyCore);
}

}  // namespace roofline
