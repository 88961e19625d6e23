#include "import/imported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include "report/titles.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// What a call of CUDA is about, by its name in the runtime or the driver.
spool::CallKind call_kind(std::string_view name) {
  const auto has = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("GraphLaunch")) return spool::CallKind::graph_launch;
  if (has("Launch") && !has("Query")) return spool::CallKind::launch;
  // Level Zero's and SYCL's: "zeCommandListAppendMemoryCopy", "urEnqueueUSMFill", "urQueueFinish".
  if (has("Memcpy") || has("MemoryCopy")) return spool::CallKind::copy;
  if (has("Memset") || has("MemoryFill") || has("USMFill")) return spool::CallKind::fill;
  if (has("Synchronize") || has("QueueFinish") || has("EventWait")) return spool::CallKind::synchronise;
  if (has("Malloc") || has("MemAlloc") || has("HostAlloc") || has("MemCreate")) return spool::CallKind::allocate;
  if (has("Free") || has("MemRelease")) return spool::CallKind::release;
  if (has("ModuleLoad") || has("LibraryLoad") || has("ModuleGetFunction")) return spool::CallKind::load;
  if (has("Event")) return spool::CallKind::event;
  return spool::CallKind::other;
}

/// Each record with a start and an end; a kernel that ends at 0 has none.
template <typename Visit>
void for_all_times(ProcessTrace& trace, Visit&& visit) {
  for (auto& record : trace.kernels) {
    if (record.end != 0) visit(record);
  }
  for (auto& record : trace.copies) visit(record);
  for (auto& record : trace.fills) visit(record);
  for (auto& record : trace.launches) visit(record);
  for (auto& record : trace.calls) visit(record);
  for (auto& record : trace.range_times) visit(record);
}

}  // namespace

std::uint64_t work_identity(const Work& work) {
  std::uint64_t identity = 0;
  const auto mix = [&identity](std::uint64_t value) {
    constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;
    identity = (identity ^ (value + kMixer + (identity << 6U) + (identity >> 2U))) * kMixer;
  };
  for (const auto& [pipe, flops] : work.flops) {
    mix(static_cast<std::uint64_t>(pipe));
    mix(std::bit_cast<std::uint64_t>(flops));
  }
  for (const auto& [level, bytes] : work.bytes) {
    mix(static_cast<std::uint64_t>(level));
    mix(std::bit_cast<std::uint64_t>(bytes.read));
    mix(std::bit_cast<std::uint64_t>(bytes.write));
  }
  return identity;
}

TraceBuilder::TraceBuilder(ProcessTrace& trace) : trace_(trace) {
  // Id 0 means none.
  trace_.texts.resize(1);
  trace_.ranges.resize(1);
  trace_.lines.resize(1);
  trace_.places.resize(1);
  trace_.kinds.resize(1);
  trace_.tally.last = 1;
}

template <typename Key, typename Record, typename Make>
spool::Id TraceBuilder::intern(std::map<Key, spool::Id>& known, std::vector<Record>& records, const Key& key,
                               Make&& make) {
  const auto [found, is_new] = known.try_emplace(key, static_cast<spool::Id>(records.size()));
  if (is_new) records.push_back(make(found->second));
  return found->second;
}

spool::Id TraceBuilder::text(std::string_view text) {
  if (text.empty()) return 0;
  const auto [found, is_new] = texts_.try_emplace(std::string(text), static_cast<spool::Id>(trace_.texts.size()));
  if (is_new) trace_.texts.push_back(found->first);
  return found->second;
}

spool::Id TraceBuilder::range(spool::Id parent, std::string_view name) {
  const spool::Id of = text(name);
  return intern(ranges_, trace_.ranges, {parent, of},
                [&](spool::Id id) { return spool::Range{.id = id, .parent = parent, .name = of, .domain = 0}; });
}

spool::Id TraceBuilder::place(const ImportedPlace& place) {
  spool::Id line = 0;
  if (!place.file.empty()) {
    const spool::Id file = text(place.file), function = text(place.function);
    line = intern(lines_, trace_.lines, {file, function, place.line}, [&](spool::Id id) {
      return spool::Line{.id = id, .file = file, .function = function, .number = place.line};
    });
  }
  const spool::Id module = text(place.module), operation = text(place.operation);
  const std::array<spool::Id, 5> key = {place.range, line, module, operation, place.backward ? 1U : 0U};
  if (key == std::array<spool::Id, 5>{}) return 0;
  return intern(places_, trace_.places, key, [&](spool::Id id) {
    return spool::Place{.id = id,
                        .range = place.range,
                        .line = line,
                        .module = module,
                        .backward = place.backward ? 1U : 0U,
                        .operation = operation,
                        .code = 0,
                        .reserved = 0};
  });
}

spool::Id TraceBuilder::kind(const ImportedKernel& kernel) {
  const spool::Id name = text(kernel.name);
  std::array<std::uint32_t, 15> key = {name, kernel.dynamic_shared, kernel.place};
  const std::uint32_t flags =
      (kernel.whole_graph ? spool::kGraph : 0U) | (kernel.cold_caches ? spool::kColdCaches : 0U);
  key[12] = flags;
  key[13] = static_cast<std::uint32_t>(kernel.scalars);
  key[14] = static_cast<std::uint32_t>(kernel.scalars >> 32U);
  std::copy(kernel.grid.begin(), kernel.grid.end(), key.begin() + 3);
  std::copy(kernel.block.begin(), kernel.block.end(), key.begin() + 6);
  std::copy(kernel.cluster.begin(), kernel.cluster.end(), key.begin() + 9);
  return intern(kinds_, trace_.kinds, key, [&](spool::Id id) {
    spool::Kind kind = {};
    kind.id = id;
    kind.name = name;
    std::copy(kernel.grid.begin(), kernel.grid.end(), kind.grid);
    std::copy(kernel.block.begin(), kernel.block.end(), kind.block);
    std::copy(kernel.cluster.begin(), kernel.cluster.end(), kind.cluster);
    kind.dynamic_shared = kernel.dynamic_shared;
    kind.scalars = kernel.scalars;
    kind.place = kernel.place;
    kind.flags = flags;
    return launchable(kind);
  });
}

spool::Id TraceBuilder::graph_launch() {
  std::array<std::uint32_t, 15> key = {};
  key[12] = spool::kGraph;
  return intern(kinds_, trace_.kinds, key, [&](spool::Id id) {
    spool::Kind kind = {};
    kind.id = id;
    kind.flags = spool::kGraph;
    return kind;
  });
}

void TraceBuilder::call(std::string_view name, const ImportedCall& call) {
  const spool::CallKind kind = call_kind(name);
  if (kind == spool::CallKind::launch || kind == spool::CallKind::graph_launch) {
    trace_.launches.push_back({.start = call.start,
                               .end = call.end,
                               .correlation = call.correlation,
                               .kind = kind == spool::CallKind::graph_launch ? graph_launch() : 0,
                               .thread = call.thread,
                               .flags = 0});
    return;
  }
  trace_.calls.push_back({.start = call.start,
                          .end = call.end,
                          .correlation = call.correlation,
                          .name = text(name),
                          .kind = kind,
                          .thread = call.thread,
                          .place = 0,
                          .reserved = 0});
}

std::uint32_t TraceBuilder::quantity(std::string_view name) {
  const auto known = quantities_.find(name);
  if (known != quantities_.end()) return known->second;
  const auto index = static_cast<std::uint32_t>(quantities_.size());
  quantities_.emplace(name, index);
  const spool::Id id = text(name);
  trace_.metrics.push_back({.index = index, .group = 0, .quantity = id, .name = id});
  return index;
}

void TraceBuilder::device(const DeviceFacts& facts, std::string_view file) {
  spool::Device device = {};
  device.index = facts.index;
  device.name = text(facts.name);
  device.chip = text(facts.chip);
  device.sms = facts.sms;
  // Files have no UUID, which identifies devices: one is made of file and index, so those of two files never match.
  const std::uint64_t identity[2] = {std::hash<std::string_view>()(file), facts.index};
  static_assert(sizeof identity == sizeof device.uuid);
  std::memcpy(device.uuid, identity, sizeof identity);
  device.compute_major = facts.compute_major;
  device.compute_minor = facts.compute_minor;
  device.threads_per_sm = facts.threads_per_sm;
  // The value of all chips since Ampere, where the file has none.
  device.blocks_per_sm = facts.blocks_per_sm != 0 ? facts.blocks_per_sm : 32;
  device.registers_per_sm = facts.registers_per_sm;
  device.registers_per_block = facts.registers_per_block;
  device.shared_per_sm = facts.shared_per_sm;
  device.shared_per_block = facts.shared_per_block;
  device.warps_per_sm = facts.warps_per_sm;
  trace_.devices.push_back(device);
}

void TraceBuilder::without_work(spool::Id kind, std::string_view reason) {
  trace_.uncounted.push_back({.kind = kind, .reason = text(reason)});
}

std::uint64_t TraceBuilder::finish() {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
  for_all_times(trace_, [&](const auto& record) {
    first = std::min(first, record.start);
    last = std::max(last, record.end);
  });
  if (first > last) first = last = 0;
  constexpr std::uint64_t kBegin = 1;  // 0 is "not known"
  for_all_times(trace_, [&](auto& record) {
    record.start = record.start - first + kBegin;
    record.end = record.end - first + kBegin;
  });
  trace_.process.start = kBegin;
  trace_.last_time = last - first + kBegin;
  trace_.tally.kernels = trace_.kernels.size();
  trace_.tally.launches = trace_.kernels.size();
  trace_.tally.time = trace_.last_time;
  return first;
}

void delay(ProcessTrace& trace, std::uint64_t by_ns) {
  for_all_times(trace, [by_ns](auto& record) {
    record.start += by_ns;
    record.end += by_ns;
  });
  trace.process.start += by_ns;
  trace.last_time += by_ns;
  trace.tally.time = trace.last_time;
}

std::string why_no_kernels(const ProcessTrace& trace, std::string_view remedy, std::string_view otherwise) {
  if (trace.launches.empty()) return std::string(otherwise);
  return fmt::format("{}, but no kernel record: {}",
                     counted_noun(static_cast<std::int64_t>(trace.launches.size()), "launch", "launches"), remedy);
}

void note_no_counters(ProcessTrace& trace, std::string_view tool, const std::vector<DeviceFacts>& devices) {
  const bool radeon = std::any_of(devices.begin(), devices.end(),
                                  [](auto& of) { return is_gpu_of_amd(of.name) && !is_compute_gpu_of_amd(of.name); });
  const bool amd =
      std::any_of(devices.begin(), devices.end(), [](auto& of) { return of.is_amd || is_gpu_of_amd(of.name); });
  const bool intel =
      std::any_of(devices.begin(), devices.end(), [](auto& of) { return of.is_intel || is_gpu_of_intel(of.name); });
  const std::string_view where = radeon  ? ""
                                 : amd   ? "; rocprof-compute counts them, in a report of its own"
                                 : intel ? ""
                                         : "; add an ncu report of the program";
  trace.notes.push_back({.time = 0,
                         .code = spool::NoteCode::not_counted,
                         .text = std::string(tool) + " records no counters" + std::string(where)});
}

}  // namespace roofline
