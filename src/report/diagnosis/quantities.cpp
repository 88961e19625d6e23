// One function a group of quantities; each sets what it can.
#include "report/diagnosis/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "text/format.hpp"

namespace roofline {
namespace {

constexpr auto kFraction = QuantityUnit::fraction;
constexpr auto kFactor = QuantityUnit::factor;
constexpr auto kNumber = QuantityUnit::number;
constexpr auto kHertz = QuantityUnit::hertz;
constexpr auto kBytes = QuantityUnit::bytes;
constexpr auto kFlag = QuantityUnit::flag;

constexpr QuantitySpec kSpecs[] = {
    {"roof.fraction", "of its roof", kFraction, "attainable over measured time"},
    {"time.lost", "processor time lost", kFraction,
     "of the processor's time, what others had or a limiter took while it was timed"},
    {"pace", "machine's pace", kFraction, "of its roofs, what the machine itself reached beside it: the lower of both"},
    {"roof.at_pace", "of its roof at that pace", kFraction,
     "roof.fraction over the pace of what bounds it, memory or arithmetic"},
    {"pace.copy", "pace of copying", kFraction, "of main memory's copy roof, what its probe reached beside it"},
    {"pace.arithmetic", "pace of arithmetic", kFraction, "the same of the fp32 roof"},
    {"launch.share", "launch floor", kFraction, "of the time, what its launches need at the launch floor"},
    {"transfer.share", "link to the host busy", kFraction, "of the time, what its bytes need on PCIe or NVLink"},
    {"memory.bound", "memory-bound", kFlag, "the bound is memory"},
    {"compute.bound", "compute-bound", kFlag, "the bound is compute"},
    {"clock", "core clock", kHertz, "core clock while it was timed"},
    {"clock.share", "of the highest clock", kFraction, "of the highest core clock"},
    {"memory.utilization", "main memory busy", kFraction,
     "main memory bytes a second over the highest roof; counted bytes where there are any"},
    {"levels.utilization", "busiest level of memory", kFraction,
     "the same of the busiest level of memory, of those that were counted"},
    {"compute.utilization", "busiest pipe", kFraction,
     "the busiest pipe's operations a second over its roof, modelled or counted, whichever are more"},
    {"both.utilization", "busiest pipe or level", kFraction, "the larger of the levels' and compute utilization"},
    {"matrix.work", "matrix product", kFlag,
     "most of the model's FLOPs are a matrix product in a type that tensor cores have"},
    {"tensor.executed", "on tensor cores", kFlag, "tensor operations were counted"},
    {"tensor.active", "tensor cores busy", kFraction, "cycles in which the tensor pipe worked"},
    {"tensor.gain", "tensor over vector roof", kFactor, "roof of the tensor pipe over that of the vector pipe"},
    {"wgmma.share", "through wgmma", kFraction, "of the tensor operations that went through wgmma"},
    {"wgmma.available", "has wgmma", kFlag, "the chip has wgmma"},
    {"blocks", "blocks", kNumber, "of the largest kernel's grid"},
    {"threads", "threads a block", kNumber, "of a block of it"},
    {"registers", "registers a thread", kNumber, "of a thread of it"},
    {"shared", "shared memory a block", kBytes, "of a block of it"},
    {"sms", "SMs", kNumber, "of the device"},
    {"blocks.per_sm", "blocks an SM", kNumber, "blocks of the grid over SMs"},
    {"waves", "waves of blocks", kNumber, "blocks over those that are resident at once"},
    {"tail.idle", "last wave empty", kFraction, "block slots that are empty in the last wave"},
    {"limit.registers", "limited by registers", kFlag, "registers limit the blocks on an SM"},
    {"limit.shared", "limited by shared memory", kFlag, "shared memory does"},
    {"limit.blocks", "limited by blocks", kFlag, "the number of blocks does"},
    {"occupancy", "occupancy", kFraction, "warps that were resident, of the most"},
    {"occupancy.of_possible", "of the possible occupancy", kFraction,
     "reached over what fits, or over what the grid has where that is less"},
    {"load.excess", "bytes fetched over asked", kFactor,
     "bytes of the sectors that loads asked for, over the bytes that threads did"},
    {"load.share", "loads in L1 traffic", kFraction, "loads' sectors over all that L1 was asked for"},
    {"store.share", "stores in L1 traffic", kFraction, "the same of stores"},
    {"store.excess", "bytes touched over written", kFactor, "the same of stores"},
    {"load.sectors", "sectors a load", kNumber, "a request of a warp"},
    {"store.sectors", "sectors a store", kNumber, "a request of a warp"},
    {"local.share", "local memory in L1 traffic", kFraction, "local memory's bytes over all that L1 was asked for"},
    {"shared.excess", "shared memory wavefronts over needed", kFactor,
     "wavefronts of shared memory over those without bank conflicts"},
    {"shared.share", "shared memory in L1 traffic", kFraction, "shared wavefronts over those and L1's"},
    {"l2.hit_rate", "L2 hit rate", kFraction, "sectors that L2 had"},
    {"traffic.by_design", "traffic by design over compulsory", kFactor,
     "compulsory bytes and those that the implementation's design adds, over the former"},
    {"dram.over_model", "DRAM bytes over compulsory", kFactor, "DRAM bytes over compulsory bytes"},
    {"l2.over_model", "L2 bytes over compulsory", kFactor, "bytes that SMs asked of L2 over compulsory bytes"},
    {"flops.over_model", "FLOPs over the model's", kFactor, "executed over modelled FLOPs of the dominant pipe"},
    {"stall.long_scoreboard.share", "stalls on global memory", kFraction, "of all stalls, waiting for global memory"},
    {"stall.shared.share", "stalls on shared memory", kFraction, "waiting for shared memory and special functions"},
    {"stall.barrier.share", "stalls at barriers", kFraction, "waiting at a barrier"},
    {"stall.lsu.share", "stalls on the load/store queue", kFraction, "waiting for the load/store queue"},
    {"stall.math_pipe.share", "stalls on a busy pipe", kFraction, "waiting for an arithmetic pipe"},
    {"stall.no_instruction.share", "stalls on instruction fetch", kFraction, "waiting for instructions"},
    {"stall.not_selected.share", "ready, not chosen", kFraction, "ready, another one was chosen"},
    {"stall.wait.share", "stalls on the result before", kFraction, "waiting a fixed number of cycles"},
};

/// Sets quantities, and leaves out what is not a number.
class Collector {
 public:
  void set(std::string_view name, double value) {
    if (std::isfinite(value)) values_.insert_or_assign(std::string(name), value);
  }
  void set(std::string_view name, std::optional<double> value) {
    if (value) set(name, *value);
  }
  void flag_is(std::string_view name, bool value) { set(name, value ? 1.0 : 0.0); }
  std::optional<double> get(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  Quantities take() { return std::move(values_); }

 private:
  Quantities values_;
};

bool is_tensor(Pipe pipe) { return to_string(pipe).starts_with("tensor."); }

void add_bound(Collector& out, const Point& point, const Machine& machine) {
  const double time = point.time->median;
  out.set("roof.fraction", point.fraction_of_roof());
  out.flag_is("memory.bound", point.bound.label == BoundLabel::memory);
  out.flag_is("compute.bound", point.bound.label == BoundLabel::compute);
  for (const ResourceTime& resource : point.bound.resources) {
    const std::string_view name = resource.ceiling;
    if (resource.kind == CeilingKind::overhead) out.set("launch.share", resource.time_s / time);
    if (name.starts_with("pcie.") || name.starts_with("nvlink.")) out.set("transfer.share", resource.time_s / time);
  }
  const auto compulsory = point.work.bytes.find(main_memory(machine.device.kind));
  if (compulsory != point.work.bytes.end()) {
    out.set("traffic.by_design", 1 + point.work.extra.total() / compulsory->second.total());
  }
  if (point.time->clock_hz && machine.device.max_core_hz) {
    out.set("clock", *point.time->clock_hz);
    out.set("clock.share", *point.time->clock_hz / *machine.device.max_core_hz);
  }
}

void add_fairness(Collector& out, const Point& point) {
  if (point.disturbed) out.set("time.lost", share_lost(*point.disturbed));
  if (!point.pace) return;
  out.set("pace", point.pace->least());
  out.set("pace.copy", point.pace->copy);
  out.set("pace.arithmetic", point.pace->arithmetic);
  const bool memory = point.bound.label == BoundLabel::memory;
  if (memory || point.bound.label == BoundLabel::compute) {
    out.set("roof.at_pace", point.fraction_of_roof() / (memory ? point.pace->copy : point.pace->arithmetic));
  }
}

/// Bytes a second that crossed a level, over its highest roof. Main memory's are the model's where nothing was counted.
std::optional<double> level_utilization(Level level, const Point& point, const Machine& machine,
                                        const Counters* counters) {
  const Ceiling* slope = machine.slope(level);
  if (slope == nullptr) return std::nullopt;
  const double most = slope->value * point.time->median;
  const auto counted = counters != nullptr ? counted_bytes(*counters, level) : std::nullopt;
  if (counted) return *counted / most;
  const auto modelled = point.work.bytes.find(level);
  return modelled == point.work.bytes.end() ? std::nullopt : std::optional(modelled->second.total() / most);
}

/// Operations by pipe: the model's, or the counted ones where those are more.
std::map<Pipe, double> operations_of(const Work& work, const Counters* counters) {
  std::map<Pipe, double> operations = work.flops;
  for (const auto& [pipe, count] : work.uncounted) operations[pipe] += count;
  if (counters == nullptr) return operations;
  for (const auto& [pipe, count] : counted_flops(*counters)) operations[pipe] = std::max(operations[pipe], count);
  return operations;
}

/// Nothing where there are operations and no roof for any of them.
std::optional<double> compute_utilization(const Point& point, const Machine& machine, const Counters* counters) {
  double busiest = 0;
  bool known = true;
  for (const auto& [pipe, count] : operations_of(point.work, counters)) {
    if (!(count > 0)) continue;
    const Ceiling* roof = machine.compute_at(pipe, point.time->clock_hz);
    if (roof == nullptr) known = false;
    if (roof != nullptr) busiest = std::max(busiest, count / point.time->median / roof->value);
  }
  return known || busiest > 0 ? std::optional(busiest) : std::nullopt;
}

void add_utilization(Collector& out, const Point& point, const Machine& machine, const Counters* counters) {
  const Level memory = main_memory(machine.device.kind);
  std::optional<double> busiest;
  for (const Level level : {memory, Level::l3, Level::l2, Level::l1, Level::shared}) {
    const auto used = level_utilization(level, point, machine, counters);
    if (used) busiest = std::max(busiest.value_or(0), *used);
    if (level == memory) out.set("memory.utilization", used);
  }
  const auto compute = compute_utilization(point, machine, counters);
  out.set("levels.utilization", busiest);
  out.set("compute.utilization", compute);
  if (busiest && compute) out.set("both.utilization", std::max(*busiest, *compute));
}

void add_tensor(Collector& out, const Point& point, const Machine& machine, const Counters& counters) {
  const std::optional<Pipe> dominant = dominant_pipe(point.work);
  const std::map<Pipe, double> flops = counted_flops(counters);
  double tensor = 0;
  for (const auto& [pipe, count] : flops) {
    if (is_tensor(pipe)) tensor += count;
  }
  if (dominant) out.flag_is("matrix.work", is_tensor(*dominant));
  // That none were executed is known where the pipe was idle, or where all were counted that belong on it.
  constexpr double kIdle = 0.01;
  const auto active = counters.find("tensor.active");
  const bool known = (active && *active < kIdle) || (dominant && flops.contains(*dominant));
  if (tensor > 0 || known) out.flag_is("tensor.executed", tensor > 0);
  out.set("tensor.active", active);
  out.set("wgmma.share", wgmma_share(counters));
  out.flag_is("wgmma.available", machine.device.isa.starts_with("sm_9"));
  if (!dominant) return;
  const Ceiling* roof = machine.compute(*dominant);
  const Ceiling* vector = machine.compute(Pipe::fp32);
  if (roof != nullptr && vector != nullptr && is_tensor(*dominant)) out.set("tensor.gain", roof->value / vector->value);
  const auto executed = flops.find(*dominant);
  const auto modelled = point.work.flops.find(*dominant);
  if (executed != flops.end() && modelled != point.work.flops.end() && modelled->second > 0 && executed->second > 0) {
    out.set("flops.over_model", executed->second / modelled->second);
  }
}

void add_layout(Collector& out, const Machine& machine, const Counters& counters) {
  const auto most = std::max_element(
      counters.kernels.begin(), counters.kernels.end(),
      [](const KernelLaunch& a, const KernelLaunch& b) { return a.blocks * a.threads < b.blocks * b.threads; });
  out.set("occupancy", counters.find("occupancy"));
  if (most == counters.kernels.end()) return;
  const auto blocks = static_cast<double>(most->blocks);
  const auto sms = static_cast<double>(machine.device.units);
  out.set("blocks", blocks);
  out.set("threads", static_cast<double>(most->threads));
  out.set("registers", static_cast<double>(most->registers));
  out.set("shared", most->shared_bytes);
  out.set("sms", sms);
  if (sms > 0) out.set("blocks.per_sm", blocks / sms);
  if (most->waves > 0) {
    out.set("waves", most->waves);
    out.set("tail.idle", 1 - (most->waves - std::ceil(most->waves) + 1));
  }
  out.flag_is("limit.registers", most->limit == OccupancyLimit::registers);
  out.flag_is("limit.shared", most->limit == OccupancyLimit::shared_memory);
  out.flag_is("limit.blocks", most->limit == OccupancyLimit::blocks);
  const double possible = most->occupancy * std::min(most->waves, 1.0);
  if (const auto reached = counters.find("occupancy"); reached && possible > 0) {
    out.set("occupancy.of_possible", *reached / possible);
  }
}

void add_memory(Collector& out, const Point& point, const Machine& machine, const Counters& counters) {
  constexpr double kSector = 32;
  constexpr double kWavefront = 128;
  const auto excess = [&](const char* sectors, const char* asked) -> std::optional<double> {
    const auto ratio = counters.ratio(sectors, asked);
    return ratio ? std::optional(*ratio * kSector) : std::nullopt;
  };
  out.set("load.excess", excess("global.load_sectors", "global.load_bytes"));
  out.set("store.excess", excess("global.store_sectors", "global.store_bytes"));
  out.set("load.sectors", counters.ratio("global.load_sectors", "global.load_instructions"));
  out.set("store.sectors", counters.ratio("global.store_sectors", "global.store_instructions"));
  out.set("local.share", counters.ratio("local.bytes", "l1.bytes"));
  const auto l1 = counters.find("l1.bytes");
  const auto share_of_l1 = [&](std::string_view sectors) -> std::optional<double> {
    const auto count = counters.find(sectors);
    return count && l1 && *l1 > 0 ? std::optional(*count * kSector / *l1) : std::nullopt;
  };
  out.set("load.share", share_of_l1("global.load_sectors"));
  out.set("store.share", share_of_l1("global.store_sectors"));
  const auto shared = counted_bytes(counters, Level::shared);
  if (shared && l1 && *shared + *l1 > 0) out.set("shared.share", *shared / (*shared + *l1));
  if (const auto conflicts = counters.find("shared.bank_conflicts"); conflicts && shared) {
    const double wavefronts = *shared / kWavefront;
    if (wavefronts > *conflicts) out.set("shared.excess", wavefronts / (wavefronts - *conflicts));
  }
  out.set("l2.hit_rate", counters.find("l2.hit_rate"));
  const Level memory = main_memory(machine.device.kind);
  const auto modelled = point.work.bytes.find(memory);
  if (modelled == point.work.bytes.end() || !(modelled->second.total() > 0)) return;
  const double compulsory = modelled->second.total();
  if (const auto counted = counted_bytes(counters, memory)) out.set("dram.over_model", *counted / compulsory);
  if (const auto counted = counted_bytes(counters, Level::l2)) out.set("l2.over_model", *counted / compulsory);
}

void add_stalls(Collector& out, const Counters& counters) {
  double all = 0;
  for (const auto& [id, value] : counters.values) {
    if (id.starts_with("stall.") && id != "stall.selected") all += value;
  }
  if (!(all > 0)) return;
  for (const char* reason :
       {"long_scoreboard", "barrier", "lsu", "math_pipe", "no_instruction", "not_selected", "wait"}) {
    if (const auto value = counters.find(fmt::format("stall.{}", reason))) {
      out.set(fmt::format("stall.{}.share", reason), *value / all);
    }
  }
  if (const auto shared = counters.sum({"stall.short_scoreboard", "stall.mio"})) {
    out.set("stall.shared.share", *shared / all);
  }
}

}  // namespace

const QuantitySpec* find_quantity(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kSpecs), std::end(kSpecs), [&](const QuantitySpec& spec) { return spec.name == name; });
  return found == std::end(kSpecs) ? nullptr : found;
}

Quantities quantities_of(const Point& point, const Machine& machine, const Counters* counters) {
  Collector out;
  if (!point.time) return {};
  add_fairness(out, point);
  add_bound(out, point, machine);
  add_utilization(out, point, machine, counters);
  if (counters != nullptr) {
    add_tensor(out, point, machine, *counters);
    add_layout(out, machine, *counters);
    add_memory(out, point, machine, *counters);
    add_stalls(out, *counters);
  }
  return out.take();
}

std::string quantity_text(std::string_view name, double value) {
  const QuantitySpec* spec = find_quantity(name);
  switch (spec == nullptr ? kNumber : spec->unit) {
    case kFraction:
      return percent(value);
    case kFactor:
      return factor(value);
    case kHertz:
      return si(value, "Hz");
    case kBytes:
      return binary_bytes(value);
    default:
      return number(value, 3);
  }
}

}  // namespace roofline
