#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/quantity_groups.hpp"
#include "report/diagnosis/rules.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

void add_tensor(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
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

void add_layout(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  const auto most = std::max_element(
      counters.kernels.begin(), counters.kernels.end(),
      [](const KernelLaunch& a, const KernelLaunch& b) { return a.blocks * a.threads < b.blocks * b.threads; });
  out.set("occupancy", counters.find("occupancy"));
  if (most == counters.kernels.end()) return;
  const auto blocks = static_cast<double>(most->blocks);
  const auto sms = static_cast<double>(machine.device.units);
  out.set("blocks", blocks);
  out.set("threads", static_cast<double>(most->threads));
  if (most->threads > 0) {
    const auto threads = static_cast<double>(most->threads);
    const double filled = threads / (32 * std::ceil(threads / 32));
    out.set("lanes.filled", filled);
    out.set("lanes.empty", 1 - filled);
  }
  out.set("registers", static_cast<double>(most->registers));
  out.set("shared", most->shared_bytes);
  out.set("sms", sms);
  if (sms > 0) out.set("blocks.per_sm", blocks / sms);
  if (most->waves > 0) {
    out.set("waves", most->waves);
    out.set("grid.fill", std::min(1.0, most->waves));
    if (point.time) out.set("block.seconds", point.time->median / most->waves);
    out.set("tail.idle", 1 - (most->waves - std::ceil(most->waves) + 1));
    out.set("tail.share", 1 - most->waves / std::ceil(most->waves));
  }
  const auto missing = out.get("roof.missing");
  if (const auto tail = out.get("tail.share"); tail && missing) out.set("tail.explains", *tail / *missing);
  // Without a roof, idle slots are time only where their warps would not have waited for memory.
  constexpr double kFewLoads = 0.3;
  const bool roofless = !std::isfinite(point.fraction_of_roof());
  if (const auto tail = out.get("tail.share"), loads = out.get("load.explains"); roofless && tail && loads) {
    if (*loads < kFewLoads) out.set("tail.explains", tail);
  }
  if (sms > 0 && missing) out.set("blocks.explains", std::max(0.0, 1 - blocks / sms) / *missing);
  if (const auto reached = counters.find("occupancy"); reached && most->occupancy > 0) {
    constexpr double kWarp = 32;
    const double warps = static_cast<double>(most->blocks_per_sm * most->threads) / kWarp;
    out.set("warps.per_sm", *reached / most->occupancy * warps);
  }
  out.flag_is("library",
              is_library_kernel(most->kernel) || (point.profiled && is_library_kernel(point.profiled->full_name)));
  const auto change = [&](OccupancyLimit of, const char* amount, const char* occupancy) {
    const auto found =
        std::find_if(most->changes.begin(), most->changes.end(), [&](const auto& one) { return one.of == of; });
    if (found == most->changes.end()) return;
    out.set(amount, found->amount);
    out.set(occupancy, found->occupancy);
  };
  change(OccupancyLimit::registers, "registers.next", "registers.occupancy");
  change(OccupancyLimit::shared_memory, "shared.next", "shared.occupancy");
  change(OccupancyLimit::threads, "threads.next", "threads.occupancy");
  out.flag_is("limit.registers", most->limit == OccupancyLimit::registers);
  out.flag_is("limit.shared", most->limit == OccupancyLimit::shared_memory);
  out.flag_is("limit.blocks", most->limit == OccupancyLimit::blocks);
  const double possible = most->occupancy * std::min(most->waves, 1.0);
  if (const auto reached = counters.find("occupancy"); reached && possible > 0) {
    out.set("occupancy.of_possible", *reached / possible);
  }
}

/// Cycles of a launch. Other tools count at another clock than the highest (ncu locks it): without the cycles in their
/// file they are not known.
std::optional<double> elapsed_cycles(const Point& point, const Machine& machine, const Counters& counters) {
  if (const auto elapsed = counters.find("sm.elapsed_cycles"); elapsed && *elapsed > 0) return elapsed;
  const bool imported = point.profiled && !point.profiled->sources.empty();
  if (imported || !machine.device.max_core_hz) return std::nullopt;
  return point.time->median * *machine.device.max_core_hz;
}

void add_activity(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  const auto active = counters.find("sm.active_cycles"), elapsed = elapsed_cycles(point, machine, counters);
  // A short kernel's time has the launch in it.
  if (!active || !elapsed || !(point.time->median >= kShortLaunch)) return;
  const double share = *active / *elapsed;
  out.set("sm.active.share", share);
  out.set("sm.idle.share", std::max(0.0, 1 - share));
}

/// How often schedulers issue, and how much of that is floating-point arithmetic.
void add_issue(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  constexpr double kSchedulers = 4, kWarp = 32;
  const auto instructions = counters.find("warp.instructions"), active = counters.find("sm.active_cycles");
  const bool imported = point.profiled && !point.profiled->sources.empty();
  if (!out.get("issue.active") && instructions && active && *active > 0 && machine.device.units > 0 && !imported) {
    const double slots = kSchedulers * static_cast<double>(machine.device.units) * *active;
    out.set("issue.active", std::min(1.0, *instructions / slots));
  }
  const bool sampled = point.profiled && point.profiled->sampled;
  constexpr double kBusy = 0.6;
  const std::optional<double> busy = out.get("issue.active");
  if (busy) out.set("issue.idle", 1 - *busy);
  const bool library = point.profiled && is_library_kernel(point.profiled->full_name);
  out.flag_is("issue.busy", !sampled && !library && busy.value_or(0) >= kBusy);
  const auto operations = counters.sum({"fp32.add", "fp32.mul", "fp32.fma"});
  if (!operations || !instructions || !(*instructions > 0)) return;
  const double special = sampled ? point.profiled->sampled->special : 0;
  out.set("issue.arithmetic", std::min(1.0, *operations / kWarp / *instructions + special));
}

/// What samples and counters tell together.
void add_sampled_parts(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  if (!point.profiled || !point.profiled->sampled || !out.get("wait.issue.share")) return;
  const SampledKind& sampled = *point.profiled->sampled;
  // An access of 16 bytes per thread has four wavefronts without bank conflicts; none has more.
  constexpr double kMostWavefronts = 4, kWarp = 32;
  const auto instructions = counters.find("warp.instructions"), active = counters.find("sm.active_cycles");
  const auto sms = static_cast<double>(machine.device.units);
  if (sampled.shared > 0 && instructions && active && *active > 0 && sms > 0)
    out.set("shared.least", sampled.shared * *instructions * kMostWavefronts / sms / *active);
  // Active threads behind the barrier, if all are active before it. Well below 0, some idle before it, too.
  constexpr double kLeastLanes = -2;
  const auto lanes = out.get("lanes.active");
  if (!lanes || !(sampled.behind_barrier > 0)) return;
  const double behind = (*lanes - kWarp * (1 - sampled.behind_barrier)) / sampled.behind_barrier;
  if (behind < kLeastLanes) return;
  out.set("behind.share", sampled.behind_barrier);
  out.set("behind.lanes", behind);
}

/// A warp of a block with few threads along x spans several rows, of which each is at least a sector and at most two
/// more than its bytes. Loads with more sectors than that have another reason.
void add_block_shape(QuantityCollector& out, const Point& point) {
  constexpr double kWarp = 32, kSector = 32, kLeast = 0.9;
  if (!point.profiled) return;
  const auto& block = point.profiled->block;
  const auto along_x = static_cast<double>(block[0]);
  const auto sectors = out.get("load.sectors"), width = out.get("load.width");
  if (!(along_x > 0) || !sectors || !width) return;
  out.set("block.x", along_x);
  const double rows = kWarp / along_x, in_row = along_x * *width / kSector;
  const bool several = rows > 1 && static_cast<double>(block[1] * block[2]) >= rows;
  out.flag_is("block.narrow", several && *sectors >= kLeast * rows * std::max(1.0, in_row) &&
                                  *sectors <= rows * (std::ceil(in_row) + 1));
}

/// The clock of a launch that was replayed to be counted, which is its time's, too. The roof is not scaled to it.
void add_replay_clock(QuantityCollector& out, const Point& point, const Machine& machine) {
  const auto clock = replay_clock_hz(point);
  if (!clock) return;
  out.flag_is("clock.known", true);
  out.set("replay.clock", *clock);
  const Ceiling* const roof = machine.find(point.bound.limiting_ceiling, point.bound.regime);
  const std::optional<double> of_roof = roof != nullptr ? clock_of_roof(*roof, machine) : std::nullopt;
  if (!of_roof || !(*of_roof > 0)) return;
  out.set("roof.clock", *of_roof);
  out.set("replay.clock.share", *clock / *of_roof);
  out.set("roof.at_replay_clock", point.fraction_of_roof() * *of_roof / *clock);
}

/// All blocks run at once, and some SMs have one more than the others.
void add_uneven_blocks(QuantityCollector& out) {
  const auto per_sm = out.get("blocks.per_sm"), waves = out.get("waves"), active = out.get("sm.active.share");
  if (!per_sm || !waves || *per_sm <= 1 || *waves > 1) return;
  const double uneven = 1 - *per_sm / std::ceil(*per_sm);
  out.set("blocks.uneven", uneven);
  constexpr double kSeen = 0.7;  // of the idle time that follows
  const auto missing = out.get("roof.missing");
  if (active && missing && 1 - *active > kSeen * uneven) out.set("uneven.explains", uneven / *missing);
}

void add_memory(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
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
  auto l1 = counters.find("l1.bytes");
  const auto loads = counters.find("global.load_sectors"), stores = counters.find("global.store_sectors");
  if (!l1 && loads && stores) l1 = (*loads + *stores) * kSector;  // without local memory and atomics
  const auto share_of_l1 = [&](std::string_view sectors) -> std::optional<double> {
    const auto count = counters.find(sectors);
    return count && l1 && *l1 > 0 ? std::optional(*count * kSector / *l1) : std::nullopt;
  };
  out.set("load.share", share_of_l1("global.load_sectors"));
  out.set("store.share", share_of_l1("global.store_sectors"));
  const bool adds = point.profiled && adds_by_index(point.profiled->full_name);
  out.flag_is("adds_by_index", adds);
  constexpr double kSome = 0.02;  // of the warps' time: the kernel has atomics
  const bool sampled = out.get("wait.global_atomic.share").value_or(0) > kSome;
  out.flag_is("atomics.sampled", sampled);
  if (const auto load = out.get("load.share"), store = out.get("store.share"); (adds || sampled) && load && store) {
    out.set("atomic.share", std::max(0.0, 1 - *load - *store - out.get("local.share").value_or(0)));
  }
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

/// Excess traffic of global memory accesses, and what it explains.
void add_excess(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  constexpr double kSector = 32;
  constexpr double kExcess = 1.5;
  const auto sectors = counters.sum({"global.load_sectors", "global.store_sectors"});
  const auto asked = counters.sum({"global.load_bytes", "global.store_bytes"});
  const auto from_l2 = counters.find("l2.bytes");
  if (!sectors || !asked || !(*asked > 0)) return;
  const double moved = *sectors * kSector;
  // L1 serves the same sector again without L2.
  if (from_l2 && *from_l2 > 0 && moved > *asked) {
    out.set("traffic.needless", std::max(0.0, std::min(1 - *asked / moved, 1 - *asked / *from_l2)));
  }
  const auto from_memory = counted_bytes(counters, main_memory(machine.device.kind));
  // Data written more often than it reaches main memory and L2 can hold what does not.
  const auto stored = counters.find("global.store_bytes"), written = counters.find("dram.write_bytes");
  const auto l2 = std::ranges::find(machine.device.caches, Level::l2, &CacheInfo::level);
  const bool beyond_l2 = written && l2 != machine.device.caches.end() && *written > l2->bytes;
  if (stored && written && l2 != machine.device.caches.end()) {
    out.set("store.repeats", *stored / (*written + (beyond_l2 ? 0 : l2->bytes)));
  }
  // Below the roof, excess bytes cost time if L2 delivers them, if L1 is busy, or if the requests are scattered: more
  // than 16 sectors each (16 bytes for each thread in order take 16), of which a quarter is used at most. At the roof,
  // they cost time if main memory moves them.
  constexpr double kBusyLevel = 0.3, kLeastNeedless = 0.1, kMostSectors = 16, kFewUsed = 4;
  const bool at_roof = point.fraction_of_roof() >= kAtRoof;
  const auto scattered = [&](const std::string& kind) {
    return out.get(kind + ".sectors").value_or(0) > kMostSectors && out.get(kind + ".excess").value_or(0) > kFewUsed;
  };
  const bool below = out.get("l1.utilization").value_or(0) > kBusyLevel || scattered("load") || scattered("store") ||
                     out.get("traffic.needless").value_or(0) > kLeastNeedless;
  const bool at = from_memory && *from_memory > kExcess * *asked;
  out.flag_is("excess.costs", at_roof ? at : below);

  // A queue is full where its sectors keep a level of memory busy to some extent, or where warps wait for it.
  constexpr double kLeastShare = 0.2, kLeastLevel = 0.1;
  const auto level = out.get("levels.utilization");
  const auto queue = [&](const std::string& kind, double least_wait) {
    const auto share = out.get(kind + ".share");
    const auto wait = out.get("wait.global_" + kind + ".share");
    const bool by_bytes = share && *share > kLeastShare && level && *level > kLeastLevel;
    const bool by_waits = wait && *wait > least_wait && out.get("roof.reached") == 0.0;
    out.flag_is(kind + ".queue", (by_bytes || by_waits) && level.value_or(0) < kBusyLevel);
  };
  constexpr double kLoadWaits = 0.3, kStoreWaits = 0.2;
  queue("load", kLoadWaits);
  queue("store", kStoreWaits);
}

/// Sectors that one kind of access touches beyond those that it needs, where only the sum over both kinds is known: at
/// least the sum without all that the other kind can have, whose requests touch one sector each.
double least_excess_sectors(const Counters& counters, double sectors, const std::string& other) {
  const auto excess = counters.find("global.excess_sectors"), all = counters.find("global.sectors");
  auto others = counters.find("global." + other + "_sectors");
  if (!others && all) others = std::max(0.0, *all - sectors);
  if (!excess || !others) return 0;
  return *excess - std::max(0.0, *others - counters.find("global." + other + "_instructions").value_or(0));
}

/// Lower bounds on excess traffic where the requested bytes were not counted, as in reports of ncu. A request of 16
/// bytes per thread in order touches 16 sectors; one that touches more is scattered, whatever its type.
void add_least_excess(QuantityCollector& out, const Machine& machine, const Counters& counters) {
  constexpr double kSector = 32, kWidest = 16, kLeastShare = 0.2;
  // Under data-sheet roofs, main memory is the only level that is known, and waits for the others.
  constexpr double kLeastLevel = 0.1;
  out.flag_is("excess.matters", out.get("roof.fraction").value_or(0) < kAtRoof &&
                                    out.get("levels.utilization").value_or(1) > kLeastLevel);
  const auto memory = counted_bytes(counters, main_memory(machine.device.kind));
  double moved = 0, asked = 0;
  bool found = out.get("load.excess").has_value() || out.get("store.excess").has_value();
  for (const auto& [kind, other] : {std::pair<std::string, std::string>{"load", "store"}, {"store", "load"}}) {
    const auto sectors = counters.find("global." + kind + "_sectors");
    const auto requests = counters.find("global." + kind + "_instructions");
    if (!sectors) continue;
    moved += *sectors * kSector;
    asked += *sectors * kSector;
    if (out.get(kind + ".excess") || !requests || !(*requests > 0)) continue;
    const double needed = std::max(*requests, *sectors - least_excess_sectors(counters, *sectors, other));
    const double least = *sectors / std::min(needed, kWidest * *requests);
    if (!(least > 1)) continue;
    found = true;
    asked -= *sectors * kSector * (1 - 1 / least);
    out.set(kind + ".least_excess", least);
    const auto share = out.get(kind + ".share");
    out.flag_is(kind + ".much", share ? *share > kLeastShare : memory && *sectors * kSector > *memory);
  }
  if (const auto from_l2 = counters.find("l2.bytes"); from_l2 && *from_l2 > 0 && asked < moved) {
    out.set("traffic.least_needless", std::max(0.0, std::min(1 - asked / moved, 1 - asked / *from_l2)));
  }
  const auto excess = counters.find("global.excess_sectors");
  if (!excess) return;
  out.flag_is("excess.by_kind", found);
  out.set("excess.bytes", *excess * kSector);
  if (memory && *memory > 0) out.set("excess.over_dram", *excess * kSector / *memory);
}

/// Bank conflicts take a cycle of an SM each. Under data-sheet roofs, shared memory has none to be busy by.
void add_conflict_cycles(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  const auto conflicts = counters.find("shared.bank_conflicts");
  const auto cycles = elapsed_cycles(point, machine, counters);
  const auto sms = static_cast<double>(machine.device.units);
  const bool has_roof = machine.bandwidth(Level::shared, unsplit_traffic(1)).has_value();
  if (has_roof || !conflicts || !cycles || !(*cycles > 0) || !(sms > 0)) return;
  out.set("conflicts.share", std::min(1.0, *conflicts / sms / *cycles));
}

/// Bytes that L2 delivers again, at its roof. What DRAM moves says little of what is distinct, because L2 can hold its
/// size from before the launch, and after it.
void add_rereads(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  const auto l2 = std::ranges::find(machine.device.caches, Level::l2, &CacheInfo::level);
  const auto delivered = counted_bytes(counters, Level::l2);
  const auto from_memory = counted_bytes(counters, main_memory(machine.device.kind));
  if (l2 == machine.device.caches.end() || !delivered || !from_memory || point.bound.resources.empty()) return;
  // Random reads of a table can't be tiled.
  constexpr double kExcess = 1.5, kScattered = 2;
  const bool scattered =
      out.get("load.excess").value_or(0) > kExcess && out.get("load.sectors").value_or(0) > kScattered;
  if (!scattered) out.set("l2.rereads", *delivered / (*from_memory + l2->bytes));
  double next_s = 0;
  for (const ResourceTime& resource : point.bound.resources) {
    if (level_of(resource.ceiling) == Level::l2) continue;
    if (std::isfinite(resource.time_s)) next_s = std::max(next_s, resource.time_s);
  }
  if (level_of(point.bound.limiting_ceiling) == Level::l2)
    out.set("l2.needless", 1 - next_s / time_at_roof_speed(point));
}

/// Operands of products: the busiest level's time without bank conflicts, over that of the tensor cores.
void add_operands(QuantityCollector& out) {
  const auto busy = out.get("levels.utilization"), level = out.get("level"), active = out.get("tensor.active");
  if (!busy || !level || !active || !(*active > 0)) return;
  const bool of_shared = static_cast<Level>(*level) == Level::shared;
  out.set("operands.need", *busy / (of_shared ? out.get("shared.excess").value_or(1) : 1) / *active);
}

void add_stalls(QuantityCollector& out, const Counters& counters) {
  out.set("issue.active", counters.find("issue.active"));
  const std::optional<double> lanes = counters.ratio("thread.instructions", "warp.instructions");
  out.set("lanes.active", lanes);
  const std::optional<double> waits = out.get("wait.others.share");
  if (lanes && waits) out.set("lanes.explains", (1 - *lanes / 32) * (1 - *waits));
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

void add_counters(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  add_tensor(out, point, machine, counters);
  add_layout(out, point, machine, counters);
  add_memory(out, point, machine, counters);
  add_operands(out);
  add_excess(out, point, machine, counters);
  add_least_excess(out, machine, counters);
  add_conflict_cycles(out, point, machine, counters);
  add_rereads(out, point, machine, counters);
  add_stalls(out, counters);
  add_activity(out, point, machine, counters);
  add_issue(out, point, machine, counters);
  add_sampled_parts(out, point, machine, counters);
  add_block_shape(out, point);
  add_uneven_blocks(out);
  add_replay_clock(out, point, machine);
}

}  // namespace roofline
