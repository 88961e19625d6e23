// One function per group of quantities; each sets what is known.
#include "report/diagnosis/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/collective.hpp"
#include "model/nan.hpp"
#include "report/network.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

/// Sets quantities; values that are not finite are left out.
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

/// The pipe of a compute ceiling, of one core or of all.
std::optional<Pipe> pipe_of(const ResourceTime& resource) {
  std::string_view name = resource.ceiling;
  if (name.ends_with(kOneCore)) name.remove_suffix(kOneCore.size());
  return parse_pipe(name);
}

/// Work on another pipe than the limiting resource. Where it does not overlap fully, the row stays below its roof.
void add_second_pipe(Collector& out, const Bound& bound, double time) {
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

/// How well the time is known. A program's kernels have all launches timed, so sampling statistics do not apply.
void add_measurement(Collector& out, const Point& point, const Machine& machine) {
  out.flag_is("not_cold", not_cold(point, machine));
  out.flag_is("above_roof", point.above_roof());
  out.flag_is("partly_cached", partly_cached(point, machine));
  if (point.profiled) return;
  const Summary& time = *point.time;
  const PairedFraction* pairs = point.paired_with_roof();
  out.flag_is("paired", pairs != nullptr);
  // A time that wanders with the machine's speed is no fault of a paired fraction, which has its own interval.
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

/// Whether a row in L2 ran with a working set in L1.
bool has_smaller_set(const Point& point) {
  return std::ranges::any_of(point.experiments,
                             [](const Experiment& one) { return one.kind == ExperimentKind::in_l1; });
}

void add_bound(Collector& out, const Point& point, const Machine& machine) {
  const double time = time_at_roof_speed(point);
  const double fraction = point.fraction_of_roof();
  out.flag_is("roof.known", std::isfinite(fraction));
  out.set("roof.fraction", fraction);
  if (std::isfinite(fraction)) {
    out.flag_is("roof.suspect", point.bound.suspect);
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

void add_contention(Collector& out, const Point& point) {
  if (point.contention) out.set("time.lost", share_lost(*point.contention));
  if (!point.reference_rates || point.paired_with_roof() != nullptr) return;
  out.set("pace.copy", point.reference_rates->copy);
  out.set("pace.arithmetic", point.reference_rates->arithmetic);
  const std::optional<double> reference_rate = reference_rate_of_roof(point);
  out.set("pace", reference_rate);
  if (reference_rate) out.set("roof.at_pace", point.fraction_of_roof() / *reference_rate);
}

/// Bytes per second across a level over its highest roof. Main memory falls back to modelled bytes, and so does the
/// cache that serves a hot row.
std::optional<double> level_utilization(Level level, const Point& point, const Machine& machine,
                                        const Counters* counters) {
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
  std::map<Pipe, double> operations = work.flops;
  for (const auto& [pipe, count] : work.uncounted) operations[pipe] += count;
  if (counters == nullptr) return operations;
  for (const auto& [pipe, count] : counted_flops(*counters)) operations[pipe] = std::max(operations[pipe], count);
  return operations;
}

/// The busiest pipe and its utilization; nothing where no pipe with operations has a roof.
std::optional<std::pair<double, Pipe>> busiest_pipe(const Point& point, const Machine& machine,
                                                    const Counters* counters) {
  std::pair<double, Pipe> busiest = {0, dominant_pipe(point.work).value_or(Pipe::fp32)};
  bool known = true;
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
    out.set("level.need", busiest->first * time_at_roof_speed(point) / point.bound.attainable_time_s);
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
  // None were executed where the pipe was idle, or where the counters of its type were read and are 0.
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

/// Kernels whose code the user does not own: only the call can be changed.
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

/// One ceiling as a share of another.
std::optional<double> share_of(const Machine& machine, std::string_view part, std::string_view whole) {
  const Ceiling* a = machine.find(part);
  const Ceiling* b = machine.find(whole);
  return a != nullptr && b != nullptr && b->value > 0 ? std::optional(a->value / b->value) : std::nullopt;
}

double bits_of(std::string_view isa) { return isa.starts_with("avx512") ? 512 : isa.starts_with("avx") ? 256 : 128; }

/// Whether the row computes with integers and no ceiling says how fast the machine does so.
bool is_unmeasured_integer_work(const Point& point) {
  bool measured = false, declared = false;
  for (const ResourceTime& resource : point.bound.resources) {
    if (resource.kind != CeilingKind::compute || !(resource.amount > 0)) continue;
    measured = measured || std::isfinite(resource.time_s);
    declared = declared || resource.ceiling == to_string(Pipe::int32) || resource.ceiling == to_string(Pipe::int8);
  }
  const bool by_formula =
      point.verification && point.verification->work && point.verification->work->integer_operations;
  return !measured && (declared || by_formula);
}

/// Quantities of CPUs: threads, vector width, pages, NUMA nodes.
void add_cpu(Collector& out, const Point& point, const Machine& machine, const Counters* counters) {
  const DeviceInfo& device = machine.device;
  const double time = time_at_roof_speed(point);
  const auto threads = static_cast<double>(device.units);
  const double used = point.work.threads > 0 ? static_cast<double>(point.work.threads) : threads;
  out.set("threads.of", threads);
  out.set("threads.used", used);
  if (threads > 0) out.set("threads.used_share", used / threads);
  out.set("roof.on_all_threads", fraction_on_all_threads(point, machine));
  out.flag_is("integer.unmeasured", is_unmeasured_integer_work(point));
  out.set("threads.saving", saving_on_all_threads(point, machine));
  out.set("cores", number_of(device.attributes, AttributeKey::physical_cores));
  if (const auto cores = out.get("cores"); cores > 0)
    out.set("threads.share", static_cast<double>(device.units) / *cores);
  const std::optional<Pipe> pipe = dominant_pipe(point.work);
  if (pipe == Pipe::fp32 || pipe == Pipe::fp64) {
    const double rate = point.work.flops.at(*pipe) / time;
    const double lanes = bits_of(device.isa) / (pipe == Pipe::fp32 ? 32 : 64);
    const Ceiling* one_core = machine.find(std::string(to_string(*pipe)) + std::string(kOneCore));
    if (one_core != nullptr && used > 1) out.set("one_core", rate / one_core->value);
    const Ceiling* roof = machine.compute_at(*pipe, std::nullopt, point.work.threads);
    if (roof != nullptr) out.set("scalar", rate / (roof->value / lanes));
    out.set("lanes", lanes);
  }
  const auto traffic = point.work.bytes.find(Level::dram);
  if (traffic != point.work.bytes.end() && traffic->second.total() > 0) {
    const double bytes = traffic->second.total();
    out.set("writes", traffic->second.write / bytes);
    out.set("working_set", bytes);
    const Ceiling* regular = machine.find("dram.copy.regular");
    // Not for kernels that already use non-temporal stores (background load can slow them to the same rate), nor for
    // those that write where they read: their stores find the line in the cache.
    const bool comparable = regular != nullptr && used == threads && !point.work.cache;
    const bool may_bypass = !point.non_temporal_stores && !traffic->second.in_place;
    if (comparable && may_bypass) out.set("regular.share", bytes / time / regular->value);
    if (const double cache = machine.largest_cache_bytes(); cache > 0) {
      out.set("last_cache", cache);
      out.set("cache.multiple", bytes / cache);
      if (point.work.write_only) out.set("write_only.of_cache", *point.work.write_only / cache);
    }
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

/// Whether the interval allows a conclusion: as wide as a fifth of the ratio; of a share of the row's time, of all of
/// it.
bool is_certain(const Experiment& experiment) {
  constexpr double kWidest = 0.2;
  // A smaller size that costs more per unit of work has costs of its own.
  constexpr double kComparable = 1.25;
  const bool share = experiment.kind == ExperimentKind::in_cache || experiment.kind == ExperimentKind::in_l1;
  if (share && experiment.ratio > kComparable) return false;
  const double whole = share ? std::max(1.0, experiment.ratio) : experiment.ratio;
  return experiment.ratio > 0 && !(experiment.ci95.known() && experiment.ci95.width() > kWidest * whole);
}

/// Whether traced accesses stay within their pages. Small pages are slower then, too, where prefetchers end at a page.
bool stays_in_pages(const Point& point) {
  constexpr double kJumps = 0.1;
  return std::any_of(point.experiments.begin(), point.experiments.end(), [](const Experiment& experiment) {
    return experiment.kind == ExperimentKind::page_jumps && experiment.ratio < kJumps;
  });
}

/// What the row's re-runs showed. Uncertain ratios are left out.
void add_experiments(Collector& out, const Point& point, const Machine& machine) {
  const auto threads = static_cast<double>(machine.device.units);
  for (const Experiment& experiment : point.experiments) {
    const double ratio = experiment.ratio;
    if (!is_certain(experiment)) continue;
    switch (experiment.kind) {
      case ExperimentKind::in_cache:
      case ExperimentKind::in_l1:
        out.set("experiment.cache",
                static_cast<double>(experiment.kind == ExperimentKind::in_l1 ? Level::l1 : Level::l2));
        out.set("experiment.in_cache.share", ratio);
        out.set("experiment.in_cache.gain", 1 / ratio);
        out.set("experiment.explained", ratio + point.fraction_of_roof());
        break;
      case ExperimentKind::all_threads: {
        // A lower clock with all threads is no fault of the kernel: the FMA probe has it as well.
        const Ceiling* all = machine.find("fp32");
        const Ceiling* one = machine.find("fp32.one_core");
        const double slower = all != nullptr && one != nullptr ? threads * one->value / all->value : 1;
        out.set("experiment.thread.cost", ratio / std::max(1.0, slower));
        break;
      }
      case ExperimentKind::slowest_thread:
        out.set("experiment.thread.slowest", ratio);
        out.set("experiment.thread.used", threads / ratio);
        break;
      case ExperimentKind::double_size:
        out.set("experiment.size.slowdown", ratio);
        break;
      case ExperimentKind::other_type:
        out.set("experiment.type.slowdown", 1 / ratio);
        break;
      case ExperimentKind::small_pages:
        if (!stays_in_pages(point)) out.set("experiment.pages.slowdown", ratio);
        break;
      case ExperimentKind::staggered:
        out.set("experiment.staggered.gain", 1 / ratio);
        out.set("buffers", static_cast<double>(experiment.count));
        break;
      case ExperimentKind::realigned:
        out.set("experiment.realigned.gain", 1 / ratio);
        break;
      case ExperimentKind::flushed_subnormals:
        out.set("experiment.subnormals.gain", 1 / ratio);
        break;
      case ExperimentKind::reassociated:
        out.set("experiment.reassociated.gain", 1 / ratio);
        break;
      case ExperimentKind::unvectorized:
        out.set("experiment.unvectorized.slowdown", ratio);
        break;
      case ExperimentKind::multiplied:
        out.set("experiment.divisions.gain", 1 / ratio);
        break;
      case ExperimentKind::unforwarded:
        out.set("experiment.forwarding.gain", 1 / ratio);
        break;
      case ExperimentKind::line_visits:
        out.set("experiment.lines.visits", ratio);
        break;
      case ExperimentKind::page_jumps:
        out.set("experiment.pages.jumps", ratio);
        break;
      case ExperimentKind::ascending_indices:
        out.set("experiment.order.gain", 1 / ratio);
        break;
    }
  }
}

}  // namespace

Quantities quantities_of(const Point& point, const Machine& machine, const Counters* counters) {
  Collector out;
  if (!point.time) return {};
  add_measurement(out, point, machine);
  add_contention(out, point);
  add_network(out, point, machine);
  add_bound(out, point, machine);
  add_utilization(out, point, machine, counters);
  if (machine.device.kind == DeviceKind::cpu) add_cpu(out, point, machine, counters);
  add_experiments(out, point, machine);
  if (counters != nullptr) {
    add_tensor(out, point, machine, *counters);
    add_layout(out, point, machine, *counters);
    add_memory(out, point, machine, *counters);
    add_stalls(out, *counters);
  }
  return out.take();
}

}  // namespace roofline
