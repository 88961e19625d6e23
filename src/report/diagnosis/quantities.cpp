// One function a group of quantities; each sets what it can.
#include "report/diagnosis/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/collective.hpp"
#include "model/nan.hpp"
#include "report/network.hpp"
#include "report/roof_share.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr auto kFraction = QuantityUnit::fraction;
constexpr auto kFactor = QuantityUnit::factor;
constexpr auto kNumber = QuantityUnit::number;
constexpr auto kHertz = QuantityUnit::hertz;
constexpr auto kBytes = QuantityUnit::bytes;
constexpr auto kBandwidth = QuantityUnit::bandwidth;
constexpr auto kSeconds = QuantityUnit::seconds;
constexpr auto kFlag = QuantityUnit::flag;
constexpr auto kPipe = QuantityUnit::pipe;
constexpr auto kLevel = QuantityUnit::level;

constexpr QuantitySpec kSpecs[] = {
    {"interval.known", "interval known", kFlag, "the median has a 95 % interval"},
    {"interval.width", "width of its interval", kFraction, "of the median, its 95 % interval from end to end"},
    {"drifting", "drifting", kFlag, "its time was still moving when sampling ended"},
    {"samples", "samples", kNumber, "that its median is of"},
    {"samples.effective", "independent samples", kNumber, "that the samples are worth, as they follow each other"},
    {"samples.close", "samples close together", kFlag, "six or more, nine tenths of them within a tenth of the median"},
    {"autocorrelation", "autocorrelation", kNumber, "of neighbouring samples"},
    {"time.q05", "5 % quantile", kSeconds, "of its times"},
    {"time.q95", "95 % quantile", kSeconds, "of its times"},
    {"not_cold", "not cold", kFlag, "it was to be cold and is faster than main memory can be"},
    {"above_roof", "above its roof", kFlag, "by more than the intervals explain"},
    {"roof.known", "roof known", kFlag, "a ceiling limits it"},
    {"roof.suspect", "roof suspect", kFlag, "that ceiling failed its audit"},
    {"roof.missing", "missing to its roof", kFraction, "1 - roof.fraction"},
    {"counted", "counted", kFlag, "the hardware counted its bytes or operations"},
    {"library", "a library's", kFlag, "its longest kernel is one of a vendor's library or of a framework"},
    {"roof.fraction", "of its roof", kFraction, "attainable over measured time"},
    {"time.lost", "processor time lost", kFraction,
     "of the processor's time, what others had or a limiter took while it was timed"},
    {"pace", "machine's pace", kFraction,
     "of its roof, what the machine itself left beside it: memory at the pace of copying, arithmetic at its own"},
    {"roof.at_pace", "of its roof at that pace", kFraction, "roof.fraction over pace"},
    {"pace.copy", "pace of copying", kFraction, "of main memory's copy roof, what its probe reached beside it"},
    {"pace.arithmetic", "pace of arithmetic", kFraction, "the same of the fp32 roof"},
    {"launch.share", "launch floor", kFraction, "of the time, what its launches need at the launch floor"},
    {"transfer.share", "link to the host busy", kFraction, "of the time, what its bytes need on PCIe or NVLink"},
    {"product", "product beside it", kFlag, "of a row with a collective: it computes too"},
    {"network.bound", "communication-bound", kFlag, "its collective's bytes limit it"},
    {"network.latency.bound", "bound by its collective's latency", kFlag, "that is what limits it"},
    {"network.message", "message", kBytes, "of a rank's larger buffer, what its collective is of"},
    {"network.bus", "bus bandwidth", kBandwidth, "of its collective over its whole time, as nccl-tests counts it"},
    {"network.roof", "roof of the links", kBandwidth, "bus bandwidth that its bound holds it against"},
    {"network.share", "bytes at the links' rate", kFraction, "of the time, what its bytes need at network.roof"},
    {"network.latency.share", "latency of its collective", kFraction, "of the time, by the line of as many ranks"},
    {"network.enough", "", kBytes, "message of which latency is a tenth of the time, by that line"},
    {"network.of_size", "of what that size gave", kFraction,
     "of a collective alone: its rate over that of its size and ranks in the calibration's sweep"},
    {"network.need", "collective's time alone", kFraction,
     "of the time, what its collective took in that sweep; without one its latency and its bytes' time together"},
    {"network.latency.part", "", kFraction, "of that, its latency"},
    {"product.share", "product's time alone", kFraction, "of the time, what the rest of its work needs at its roof"},
    {"apart.share", "both, one after the other", kFraction, "product.share and network.need together"},
    {"overlap.gain", "", kFraction, "of the time, the shorter of the two: what could be hidden under the other"},
    {"memory.bound", "memory-bound", kFlag, "the bound is memory"},
    {"compute.bound", "compute-bound", kFlag, "the bound is compute"},
    {"clock.known", "clock known", kFlag, "its core clock was read"},
    {"clock.gain", "more by the burst roof", kFraction,
     "of its time, what its roof would allow less at the clock that the burst ceiling was measured at"},
    {"clock.explains", "", kFraction,
     "of what is missing to the roof, what is missing to the share of cycles in which tensor cores worked"},
    {"clock", "core clock", kHertz, "core clock while it was timed"},
    {"clock.share", "of the highest clock", kFraction, "of the highest core clock"},
    {"memory.utilization", "main memory busy", kFraction,
     "main memory bytes a second over the highest roof; counted bytes where there are any"},
    {"levels.utilization", "busiest level of memory", kFraction,
     "the same of the busiest level of memory, of those that were counted"},
    {"compute.utilization", "busiest pipe", kFraction,
     "the busiest pipe's operations a second over its roof, modelled or counted, whichever are more"},
    {"pipe", "busiest pipe", kPipe, "the one that compute.utilization is of"},
    {"level", "busiest level", kLevel, "the one that levels.utilization is of"},
    {"level.need", "that level's time alone, of the roof's", kFraction,
     "of the attainable time, what the busiest level's bytes need at its roof"},
    {"busy.sum", "", kFraction, "compute.utilization and levels.utilization together"},
    {"second.need", "that pipe's time alone, of the roof's", kFraction,
     "of the attainable time, what the pipe after the first needs at its roof"},
    {"second.explains", "", kFraction, "of what is missing to the roof, second.need were it not hidden at all"},
    {"arithmetic.explains", "", kFraction, "the same of arithmetic.need"},
    {"second", "second pipe", kPipe, "the pipe that needs the most time after the first"},
    {"arithmetic.need", "arithmetic's time alone, of the roof's", kFraction,
     "of a memory-bound row's attainable time, what its busiest pipe needs"},
    {"both.utilization", "busiest pipe or level", kFraction, "the larger of the levels' and compute utilization"},
    {"matrix.work", "matrix product", kFlag,
     "most of the model's FLOPs are a matrix product in a type that tensor cores have"},
    {"tensor.executed", "on tensor cores", kFlag, "tensor operations were counted"},
    {"tensor.active", "tensor cores busy", kFraction, "cycles in which the tensor pipe worked"},
    {"tensor.gain", "tensor over vector roof", kFactor, "roof of the tensor pipe over that of the vector pipe"},
    {"tensor.gap", "tensor cores idle", kFraction, "cycles in which the tensor pipe did not work"},
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
    {"tail.share", "slots empty in the last wave", kFraction, "of the block slots of all waves, those left empty"},
    {"grid.fill", "block slots filled", kFraction, "of those that are there at once, those that the grid fills"},
    {"tail.explains", "", kFraction, "of what is missing to the roof, tail.share"},
    {"blocks.explains", "", kFraction, "of what is missing to the roof, the share of SMs without a block"},
    {"warps.per_sm", "warps an SM", kNumber, "that were resident, mean"},
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
    {"load.width", "bytes a thread loads at once", kNumber, "mean, of global memory"},
    {"local.share", "local memory in L1 traffic", kFraction, "local memory's bytes over all that L1 was asked for"},
    {"shared.excess", "shared memory wavefronts over needed", kFactor,
     "wavefronts of shared memory over those without bank conflicts"},
    {"shared.share", "shared memory in L1 traffic", kFraction, "shared wavefronts over those and L1's"},
    {"l2.utilization", "L2 busy", kFraction, "bytes a second that SMs asked of L2 over its highest roof"},
    {"l2.hit_rate", "L2 hit rate", kFraction, "sectors that L2 had"},
    {"traffic.by_design", "bytes of its design over those that it has to move", kFactor,
     "compulsory bytes and those that the implementation's design adds, over the former"},
    {"design.need", "its design's bytes over the roof's time", kFraction,
     "of the attainable time, what those bytes need at main memory's highest roof"},
    {"dram.over_model", "DRAM bytes over those that it has to move", kFactor, "DRAM bytes over compulsory bytes"},
    {"l2.over_model", "L2 bytes over those that memory has to move", kFactor,
     "bytes that SMs asked of L2 over compulsory bytes"},
    {"flops.over_model", "FLOPs over the model's", kFactor, "executed over modelled FLOPs of the dominant pipe"},
    {"issue.active", "cycles with an instruction issued", kFraction, "of a scheduler's cycles"},
    {"threads.of", "threads", kNumber, "worker threads of the run"},
    {"cores", "cores of the machine", kNumber, "physical ones"},
    {"threads.share", "threads a core", kNumber, "worker threads over physical cores"},
    {"one_core", "of one core's arithmetic", kFraction, "its FLOP/s over what one core alone reached"},
    {"scalar", "of arithmetic without vectors", kFraction,
     "its FLOP/s over the roof divided by the elements of a vector"},
    {"lanes", "elements of a vector", kNumber, "of its type, at the instruction set in use"},
    {"flops.per_instruction", "FLOPs an instruction", kNumber, "of all instructions that were counted"},
    {"regular.share", "of what ordinary stores allow", kFraction,
     "its bytes a second over those of a copy with ordinary stores"},
    {"regular.of_roof", "ordinary over streaming stores", kFraction,
     "of the copy roof, what a copy with ordinary stores reaches"},
    {"writes", "writes in its traffic", kFraction, "of its compulsory bytes"},
    {"pages.small", "small pages", kFlag, "the system granted no huge pages to large buffers"},
    {"pages.of_roof", "copy in small pages", kFraction, "of the copy roof, what a copy in small pages reaches"},
    {"numa.nodes", "NUMA nodes", kNumber, "of the machine"},
    {"numa.remote", "another node's memory", kFraction, "of the bandwidth of a node's own memory"},
    {"working_set", "working set", kBytes, "bytes that a launch has to touch"},
    {"last_cache", "last cache", kBytes, "of all its instances"},
    {"cache.multiple", "working set over last cache", kFactor, "working_set over last_cache"},
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

/// "FP32 pipe", "BF16 tensor cores", "special function pipe".
std::string pipe_name(double value) {
  const auto pipe = static_cast<Pipe>(value);
  if (pipe == Pipe::sfu) return "special function pipe";
  return title_of_pipe(to_string(pipe)) + " pipe";
}

std::string level_name(double value) { return title_of(static_cast<Level>(value)); }

/// Arithmetic beside what limits: it has to run at the same time, or the row stays below its roof.
void add_second_pipe(Collector& out, const Bound& bound, double time) {
  const double attainable = bound.attainable_time_s;
  const double above_roof_s = std::max(0.0, time - attainable);
  bool first = true;
  for (const ResourceTime& resource : bound.resources) {
    const std::optional<Pipe> pipe = parse_pipe(resource.ceiling);
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

/// How well its time is known. Of a program's kernels every launch was timed: their sum is no sample of anything.
void add_measurement(Collector& out, const Point& point, const Machine& machine) {
  out.flag_is("not_cold", not_cold(point, machine));
  out.flag_is("above_roof", point.above_roof());
  if (point.profiled) return;
  const Summary& time = *point.time;
  out.flag_is("interval.known", time.ci95.known());
  if (time.ci95.known()) out.set("interval.width", time.ci95.width() / time.median);
  out.flag_is("drifting", time.drifting);
  out.set("samples", static_cast<double>(time.samples));
  out.set("samples.effective", time.effective_samples);
  out.flag_is("samples.close", lie_close(time));
  out.set("autocorrelation", time.autocorrelation);
  out.set("time.q05", time.q05);
  out.set("time.q95", time.q95);
}

void add_bound(Collector& out, const Point& point, const Machine& machine) {
  const double time = point.time->median;
  const double fraction = point.fraction_of_roof();
  out.flag_is("roof.known", std::isfinite(fraction));
  out.set("roof.fraction", fraction);
  if (std::isfinite(fraction)) out.flag_is("roof.suspect", point.bound.suspect);
  if (fraction < 1) out.set("roof.missing", 1 - fraction);
  out.flag_is("memory.bound", point.bound.label == BoundLabel::memory);
  out.flag_is("compute.bound", point.bound.label == BoundLabel::compute);
  for (const ResourceTime& resource : point.bound.resources) {
    const std::optional<Level> level = level_of(resource.ceiling);
    if (resource.kind == CeilingKind::overhead) out.set("launch.share", resource.time_s / time);
    if (level == Level::pcie || level == Level::nvlink) out.set("transfer.share", resource.time_s / time);
  }
  const auto compulsory = point.work.bytes.find(main_memory(machine.device.kind));
  if (compulsory != point.work.bytes.end()) {
    out.set("traffic.by_design", 1 + point.work.extra.total() / compulsory->second.total());
    const double all = compulsory->second.total() + point.work.extra.total();
    const Ceiling* slope = machine.slope(main_memory(machine.device.kind));
    if (slope != nullptr) out.set("design.need", all / slope->value / point.bound.attainable_time_s);
  }
  // The work of a program's row is its kernel's own, and says nothing of launches: it is one.
  const Ceiling* launch = machine.launch();
  if (point.profiled && !point.profiled->graph && launch != nullptr) out.set("launch.share", 1 / launch->value / time);
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

/// A row with a collective, or with a product and its collective.
void add_network(Collector& out, const Point& point, const Machine& machine) {
  if (!point.work.collective) return;
  const Collective& collective = *point.work.collective;
  const double time = point.time->median;
  const bool product = point.work.total_flops() > 0;
  double latency_s = 0, bytes_s = kNaN, product_s = 0;
  for (const ResourceTime& resource : point.bound.resources) {
    const bool network = level_of(resource.ceiling) == Level::network;
    if (network && resource.kind == CeilingKind::latency) {
      latency_s = resource.time_s;
    } else if (network) {
      bytes_s = resource.time_s;
    } else if (resource.kind != CeilingKind::overhead) {
      product_s = std::fmax(product_s, resource.time_s);
    }
    if (resource.ceiling == point.bound.limiting_ceiling) {
      out.flag_is("network.latency.bound", network && resource.kind == CeilingKind::latency);
      out.flag_is("network.bound", network && resource.kind == CeilingKind::bandwidth);
    }
  }
  out.flag_is("product", product);
  out.set("network.share", bytes_s / time);
  const double factor = bus_factor(collective.name, collective.ranks).value_or(kNaN);
  if (const auto rates = network_rates(point)) {
    out.set("network.bus", rates->bus);
    out.set("network.message", rates->algorithm * time);
  }
  if (const Ceiling* roof = machine.network(collective)) out.set("network.roof", roof->value);
  if (const LatencyLine* line = machine.line(collective)) {
    out.set("network.latency.share", line->latency_s / time);
    out.set("network.enough", 9 * line->latency_s * line->rate / factor);
  }
  const double bytes = point.work.bytes.contains(Level::network) ? point.work.bytes.at(Level::network).total() : kNaN;
  const auto calibrated = calibrated_time(machine, collective, bytes);
  const double need_s = calibrated.value_or(latency_s + bytes_s);
  out.set("network.need", need_s / time);
  if (!product) {
    out.set("network.of_size", calibrated ? std::optional(*calibrated / time) : std::nullopt);
    return;
  }
  if (latency_s > 0) out.set("network.latency.part", latency_s / need_s);
  if (!(product_s > 0)) return;
  out.set("product.share", product_s / time);
  out.set("apart.share", (product_s + need_s) / time);
  out.set("overlap.gain", std::min(product_s, need_s) / time);
}

void add_fairness(Collector& out, const Point& point) {
  if (point.contention) out.set("time.lost", share_lost(*point.contention));
  if (!point.reference_rates) return;
  out.set("pace.copy", point.reference_rates->copy);
  out.set("pace.arithmetic", point.reference_rates->arithmetic);
  const std::optional<double> pace = reference_rate_of_roof(point);
  out.set("pace", pace);
  if (pace) out.set("roof.at_pace", point.fraction_of_roof() / *pace);
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

/// The pipe that is busiest, and how busy; nothing where there are operations and no roof for any of them.
std::optional<std::pair<double, Pipe>> busiest_pipe(const Point& point, const Machine& machine,
                                                    const Counters* counters) {
  std::pair<double, Pipe> busiest = {0, dominant_pipe(point.work).value_or(Pipe::fp32)};
  bool known = true;
  for (const auto& [pipe, count] : operations_of(point.work, counters)) {
    if (!(count > 0)) continue;
    const Ceiling* roof = machine.compute_at(pipe, point.time->clock_hz);
    if (roof == nullptr) {
      known = false;
    } else {
      // At the clock that the row had, as the bound has it.
      const bool clocks = point.time->clock_hz && roof->clocks.core_hz;
      const double slower = clocks ? *roof->clocks.core_hz / *point.time->clock_hz : 1;
      busiest = std::max(busiest, {slower * count / point.time->median / roof->value, pipe});
    }
  }
  return known || busiest.first > 0 ? std::optional(busiest) : std::nullopt;
}

void add_utilization(Collector& out, const Point& point, const Machine& machine, const Counters* counters) {
  const Level memory = main_memory(machine.device.kind);
  std::optional<std::pair<double, Level>> busiest;
  for (const Level level : {memory, Level::l3, Level::l2, Level::l1, Level::shared}) {
    const auto used = level_utilization(level, point, machine, counters);
    if (used && (!busiest || *used > busiest->first)) busiest = {*used, level};
    if (level == memory) out.set("memory.utilization", used);
    if (level == Level::l2) out.set("l2.utilization", used);
  }
  const auto compute = busiest_pipe(point, machine, counters);
  if (busiest) {
    out.set("levels.utilization", busiest->first);
    out.set("level", static_cast<double>(busiest->second));
    out.set("level.need", busiest->first * point.time->median / point.bound.attainable_time_s);
  }
  if (compute) {
    out.set("compute.utilization", compute->first);
    out.set("pipe", static_cast<double>(compute->second));
  }
  if (busiest && compute) {
    out.set("both.utilization", std::max(busiest->first, compute->first));
    out.set("busy.sum", busiest->first + compute->first);
  }
  out.flag_is("counted", counters != nullptr && !counters->values.empty());
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
  if (active) out.set("tensor.gap", 1 - *active);
  if (const auto missing = out.get("roof.missing"); active && missing) {
    out.set("clock.explains", (*active - (1 - *missing)) / *missing);
  }
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

/// Kernels that nobody edits: what can be changed is how they are called.
bool is_of_library(std::string_view name) {
  constexpr std::array<std::string_view, 7> kLibraries = {"cublas", "cudnn",    "nvjet",     "xmma",
                                                          "cufft",  "cusparse", "at::native"};
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view library) { return name.find(library) != std::string_view::npos; });
}

void add_layout(Collector& out, const Point& point, const Machine& machine, const Counters& counters) {
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
    out.set("grid.fill", std::min(1.0, most->waves));
    out.set("tail.idle", 1 - (most->waves - std::ceil(most->waves) + 1));
    out.set("tail.share", 1 - most->waves / std::ceil(most->waves));
  }
  const auto missing = out.get("roof.missing");
  if (const auto tail = out.get("tail.share"); tail && missing) out.set("tail.explains", *tail / *missing);
  if (sms > 0 && missing) out.set("blocks.explains", std::max(0.0, 1 - blocks / sms) / *missing);
  if (const auto reached = counters.find("occupancy"); reached && most->occupancy > 0) {
    constexpr double kWarp = 32;
    const double warps = static_cast<double>(most->blocks_per_sm * most->threads) / kWarp;
    out.set("warps.per_sm", *reached / most->occupancy * warps);
  }
  out.flag_is("library", is_of_library(most->kernel) || (point.profiled && is_of_library(point.profiled->full_name)));
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
  constexpr double kWarp = 32;
  if (const auto bytes = counters.ratio("global.load_bytes", "global.load_instructions"))
    out.set("load.width", *bytes / kWarp);
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
  out.set("issue.active", counters.find("issue.active"));
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

/// What one ceiling reaches of another.
std::optional<double> share_of(const Machine& machine, std::string_view part, std::string_view whole) {
  const Ceiling* a = machine.find(part);
  const Ceiling* b = machine.find(whole);
  return a != nullptr && b != nullptr && b->value > 0 ? std::optional(a->value / b->value) : std::nullopt;
}

double bits_of(std::string_view isa) { return isa.starts_with("avx512") ? 512 : isa.starts_with("avx") ? 256 : 128; }

/// What only a CPU has: threads that the program places itself, vectors of several lengths, pages, nodes.
void add_cpu(Collector& out, const Point& point, const Machine& machine, const Counters* counters) {
  const DeviceInfo& device = machine.device;
  const double time = point.time->median;
  out.set("threads.of", static_cast<double>(device.units));
  out.set("cores", number_of(device.attributes, AttributeKey::physical_cores));
  if (const auto cores = out.get("cores"); cores > 0)
    out.set("threads.share", static_cast<double>(device.units) / *cores);
  const std::optional<Pipe> pipe = dominant_pipe(point.work);
  if (pipe == Pipe::fp32 || pipe == Pipe::fp64) {
    const double rate = point.work.flops.at(*pipe) / time;
    const double lanes = bits_of(device.isa) / (pipe == Pipe::fp32 ? 32 : 64);
    const Ceiling* one_core = machine.find(std::string(to_string(*pipe)) + ".one_core");
    if (one_core != nullptr && device.units > 1) out.set("one_core", rate / one_core->value);
    if (const Ceiling* roof = machine.compute(*pipe)) out.set("scalar", rate / (roof->value / lanes));
    out.set("lanes", lanes);
  }
  const auto traffic = point.work.bytes.find(Level::dram);
  if (traffic != point.work.bytes.end() && traffic->second.total() > 0) {
    const double bytes = traffic->second.total();
    out.set("writes", traffic->second.write / bytes);
    out.set("working_set", bytes);
    const Ceiling* regular = machine.find("dram.copy.regular");
    // What says that it stores past the caches is not told to: a neighbour can make a copy's share look like this, too.
    if (regular != nullptr && !point.non_temporal_stores) out.set("regular.share", bytes / time / regular->value);
    for (const CacheInfo& cache : device.caches) {
      // Listed from the core outwards, or not: the last is the largest.
      const double all = cache.bytes * static_cast<double>(cache.instances);
      if (all > out.get("last_cache").value_or(0)) out.set("last_cache", all);
    }
    if (const auto cache = out.get("last_cache"); cache > 0) out.set("cache.multiple", bytes / *cache);
  }
  out.set("regular.of_roof", share_of(machine, "dram.copy.regular", "dram.copy"));
  out.set("pages.of_roof", share_of(machine, "dram.copy.small_pages", "dram.copy"));
  if (device.huge_page_share) out.flag_is("pages.small", !(*device.huge_page_share > 0));
  out.set("numa.nodes", number_of(device.attributes, AttributeKey::numa_nodes));
  out.set("numa.remote", share_of(machine, "numa.remote", "numa.local"));
  if (counters == nullptr) return;
  const auto flops = counters->sum({"fp32.ops", "fp64.ops", "fp.ops"});
  const auto instructions = counters->find("instructions");
  if (flops && instructions > 0) out.set("flops.per_instruction", *flops / *instructions);
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
  add_measurement(out, point, machine);
  add_fairness(out, point);
  add_network(out, point, machine);
  add_bound(out, point, machine);
  add_utilization(out, point, machine, counters);
  if (machine.device.kind == DeviceKind::cpu) add_cpu(out, point, machine, counters);
  if (counters != nullptr) {
    add_tensor(out, point, machine, *counters);
    add_layout(out, point, machine, *counters);
    add_memory(out, point, machine, *counters);
    add_stalls(out, *counters);
  }
  return out.take();
}

std::string occupancy_text(double share) { return share > 1 ? "full" : percent(share); }

std::string quantity_text(std::string_view name, double value) {
  if (name == "occupancy") return occupancy_text(value);
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
    case kBandwidth:
      return rate(value, CeilingKind::bandwidth);
    case kSeconds:
      return duration(value);
    case kPipe:
      return pipe_name(value);
    case kLevel:
      return level_name(value);
    default:
      return number(value, 3);
  }
}

std::string quantity_range_text(std::string_view name, double low, double high) {
  const std::string from = quantity_text(name, low), to = quantity_text(name, high);
  if (from == to) return to;
  // "1.36 GHz", "1.75 GHz": the unit once where both have the same.
  const std::size_t unit = from.rfind(' '), other = to.rfind(' ');
  const bool once = unit != std::string::npos && other != std::string::npos && from.substr(unit) == to.substr(other);
  return (once ? from.substr(0, unit) : from) + "\u2013" + to;
}

}  // namespace roofline
