#include "import/ncu_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "device/cuda/counter_metrics.hpp"

namespace roofline {
namespace {

constexpr std::string_view kTime = "gpu__time_duration.sum";
constexpr std::string_view kAttribute = "device__attribute_";
constexpr std::string_view kDram = "dram__bytes.sum";
constexpr std::string_view kSum = ".sum";
constexpr std::string_view kPerSecond = ".per_second";
constexpr std::string_view kPerCycle = ".per_cycle_elapsed";
constexpr double kNano = 1e-9;
/// Cycles of the clock that operations are counted by; sub-partitions of an SM have its clock.
constexpr std::string_view kCycles[] = {"smsp__cycles_elapsed.avg", "sm__cycles_elapsed.avg"};
/// Whether tensor cores did anything, by their instructions; a report has some of them.
constexpr std::string_view kTensorInstructions[] = {
    "sm__inst_executed_pipe_tensor.sum", "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor_op_dmma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active"};

/// What the roofline sections count where the metric itself was not asked for: with and without sparsity.
std::string with_sparsity(std::string_view metric, bool on) {
  return fmt::format("{}_sparsity_{}.sum", metric.substr(0, metric.size() - kSum.size()), on ? "on" : "off");
}

std::optional<double> find(const NcuLaunch& launch, std::string_view metric) {
  const auto found = launch.values.find(metric);
  if (found == launch.values.end() || !std::isfinite(found->second) || found->second < 0) return std::nullopt;
  return found->second;
}

std::string with(std::string_view metric, std::string_view suffix) { return fmt::format("{}{}", metric, suffix); }

std::optional<double> cycles_of(const NcuLaunch& launch) {
  const auto time = find(launch, kTime);
  for (const std::string_view cycles : kCycles) {
    if (const auto count = find(launch, cycles)) return count;
    if (const auto rate = find(launch, with(cycles, kPerSecond)); rate && time) return *rate * *time * kNano;
  }
  return std::nullopt;
}

/// A sum, as it is or as the rate that ncu's own sections collect: its roofline chart has nothing else of operations
/// (`ncu --set roofline`, `--set full`).
std::optional<double> sum_of(const NcuLaunch& launch, std::string_view metric) {
  if (const auto sum = find(launch, metric)) return sum;
  if (!metric.ends_with(kSum)) return std::nullopt;
  if (const auto rate = find(launch, with(metric, kPerCycle))) {
    if (const auto cycles = cycles_of(launch)) return std::round(*rate * *cycles);  // operations are whole
  }
  if (const auto rate = find(launch, with(metric, kPerSecond))) {
    if (const auto time = find(launch, kTime)) return *rate * *time * kNano;
  }
  return std::nullopt;
}

std::optional<double> value_of(const NcuLaunch& launch, const CounterMetric& metric) {
  for (const std::string_view candidate : metric.candidates) {
    if (candidate.empty()) continue;
    if (const auto value = sum_of(launch, candidate)) return *value * metric.scale;
    if (!candidate.ends_with(kSum)) continue;
    const auto off = sum_of(launch, with_sparsity(candidate, false)),
               on = sum_of(launch, with_sparsity(candidate, true));
    if (off || on) return (off.value_or(0) + on.value_or(0)) * metric.scale;
  }
  return std::nullopt;
}

/// nullopt where the report does not show it.
std::optional<bool> tensor_cores_idle(const NcuLaunch& launch, const std::map<std::string_view, double>& values) {
  if (const auto active = values.find("tensor.active"); active != values.end()) return active->second == 0;
  std::optional<bool> idle;
  for (const std::string_view metric : kTensorInstructions) {
    if (const auto value = sum_of(launch, metric)) idle = idle.value_or(true) && *value == 0;
  }
  return idle;
}

const std::set<std::string, std::less<>>& known_metrics() {
  static const std::set<std::string, std::less<>> kKnown = [] {
    std::set<std::string, std::less<>> names = {std::string(kTime),
                                                std::string(kDram),
                                                with(kDram, kPerSecond),
                                                "launch__registers_per_thread",
                                                "launch__shared_mem_per_block_static",
                                                "launch__shared_mem_per_block_dynamic",
                                                "launch__cluster_dim_x",
                                                "launch__cluster_dim_y",
                                                "launch__cluster_dim_z",
                                                "launch__local_mem_per_thread"};
    for (const char* attribute :
         {"display_name", "device_index", "compute_capability_major", "compute_capability_minor",
          "multiprocessor_count", "max_threads_per_multiprocessor", "max_blocks_per_multiprocessor",
          "max_registers_per_multiprocessor", "max_registers_per_block", "max_shared_memory_per_multiprocessor",
          "max_shared_memory_per_block", "max_warps_per_multiprocessor", "l2_cache_size", "clock_rate",
          "memory_clock_rate", "global_memory_bus_width"}) {
      names.insert(fmt::format("{}{}", kAttribute, attribute));
    }
    const auto add = [&](std::string_view metric) {
      names.emplace(metric);
      if (!metric.ends_with(kSum)) return;
      names.insert(with(metric, kPerCycle));
      names.insert(with(metric, kPerSecond));
    };
    for (const std::string_view cycles : kCycles) {
      names.emplace(cycles);
      names.insert(with(cycles, kPerSecond));
    }
    for (const std::string_view metric : kTensorInstructions) add(metric);
    for (const CounterMetric& metric : counter_metrics()) {
      for (const std::string_view candidate : metric.candidates) {
        if (candidate.empty()) continue;
        add(candidate);
        if (!candidate.ends_with(kSum)) continue;
        add(with_sparsity(candidate, false));
        add(with_sparsity(candidate, true));
      }
    }
    return names;
  }();
  return kKnown;
}

std::uint32_t small(double value) {
  return static_cast<std::uint32_t>(std::isfinite(value) ? std::clamp(value, 0.0, 4294967295.0) : 0);
}

DeviceFacts device_of(const NcuLaunch& launch) {
  const auto attribute = [&](std::string_view name) {
    return find(launch, fmt::format("{}{}", kAttribute, name)).value_or(0);
  };
  const auto text = launch.texts.find("device__attribute_display_name");
  DeviceFacts device;
  device.index = launch.device;
  if (text != launch.texts.end()) device.name = text->second;
  device.compute_major = small(attribute("compute_capability_major"));
  device.compute_minor = small(attribute("compute_capability_minor"));
  device.sms = small(attribute("multiprocessor_count"));
  device.threads_per_sm = small(attribute("max_threads_per_multiprocessor"));
  device.blocks_per_sm = small(attribute("max_blocks_per_multiprocessor"));
  device.registers_per_sm = small(attribute("max_registers_per_multiprocessor"));
  device.registers_per_block = small(attribute("max_registers_per_block"));
  device.shared_per_sm = small(attribute("max_shared_memory_per_multiprocessor"));
  device.shared_per_block = small(attribute("max_shared_memory_per_block"));
  device.warps_per_sm = small(attribute("max_warps_per_multiprocessor"));
  device.l2_bytes = attribute("l2_cache_size");
  constexpr double kKilo = 1e3;
  device.core_hz = attribute("clock_rate") * kKilo;
  device.memory_hz = attribute("memory_clock_rate") * kKilo;
  device.bus_bits = attribute("global_memory_bus_width");
  return device;
}

/// The counters of a launch, under roofline's names.
std::map<std::string_view, double> quantities_of(const NcuLaunch& launch) {
  std::map<std::string_view, double> values;
  for (const CounterMetric& metric : counter_metrics()) {
    if (metric.id == "time_s" || metric.id == "sm.clock_hz") continue;  // a replayed launch's own
    if (const auto value = value_of(launch, metric)) values[metric.id] = *value;
  }
  if (!values.contains("dram.read_bytes") || !values.contains("dram.write_bytes")) {
    // Only the sum is in the report; reads and writes are not separated.
    const auto all = sum_of(launch, kDram);
    if (all) values["dram.read_bytes"] = *all;
    if (all) values["dram.write_bytes"] = 0;
  }
  return values;
}

/// A hash of the operation counts: launches of one kernel and grid with different work are different rows.
std::uint64_t work_hash(const std::map<std::string_view, double>& values) {
  std::uint64_t hash = 0;
  for (const auto& [quantity, amount] : values) {
    if (quantity.ends_with("_ops")) hash = hash * 1'000'003 + std::hash<double>()(amount);
  }
  return hash;
}

/// The metrics that a bound needs and the report lacks.
std::vector<std::string> missing_of(const NcuLaunch& launch, const std::map<std::string_view, double>& values) {
  std::vector<std::string> missing;
  if (!values.contains("dram.read_bytes"))
    missing.emplace_back("DRAM bytes (dram__bytes_read.sum, dram__bytes_write.sum)");
  if (!values.contains("fp32.fma") || !values.contains("fp32.add")) {
    missing.emplace_back("FP32 operations (smsp__sass_thread_inst_executed_op_f*_pred_on.sum)");
  }
  const bool tensor = std::any_of(values.begin(), values.end(), [](const auto& value) {
    return value.first.starts_with("tensor.") && value.first.ends_with("_ops");
  });
  if (!tensor && !tensor_cores_idle(launch, values).value_or(false)) {
    missing.emplace_back("tensor core operations (sm__ops_path_tensor_*.sum)");
  }
  return missing;
}

}  // namespace

bool is_ncu_metric(std::string_view name) { return known_metrics().contains(name); }

void add_ncu_launches(ImportedProfile& profile, const std::vector<NcuLaunch>& launches) {
  ProcessTrace& trace = profile.trace;
  TraceBuilder builder(trace);
  trace.times_by = trace.counts_by = profile.tool;
  trace.times = TimeSource::replayed;
  profile.has_starts = false;
  std::map<std::uint32_t, DeviceFacts> devices;
  std::set<std::string> short_of;
  std::vector<spool::Id> whole;  ///< kinds with all that a bound needs
  std::uint64_t clock = 1;
  std::uint32_t number = 0;
  for (const NcuLaunch& launch : launches) {
    if (!devices.contains(launch.device)) devices[launch.device] = device_of(launch);
    ImportedPlace place;
    for (const std::string& range : launch.ranges) place.range = builder.range(place.range, range);
    ImportedKernel kernel = {.name = launch.name, .grid = launch.grid, .block = launch.block};
    const auto value = [&](std::string_view metric) { return small(find(launch, metric).value_or(0)); };
    kernel.cluster = {value("launch__cluster_dim_x"), value("launch__cluster_dim_y"), value("launch__cluster_dim_z")};
    kernel.dynamic_shared = value("launch__shared_mem_per_block_dynamic");
    kernel.place = builder.place(place);
    const std::map<std::string_view, double> values = quantities_of(launch);
    kernel.scalars = work_hash(values);
    const spool::Id kind = builder.kind(kernel);
    spool::Kernel record = {};
    record.correlation = ++number;
    record.kind = kind;
    record.device = launch.device;
    record.context = launch.context;
    record.stream = launch.stream;
    record.registers = value("launch__registers_per_thread");
    record.static_shared = value("launch__shared_mem_per_block_static");
    record.local_bytes = value("launch__local_mem_per_thread");
    constexpr double kLongest = 1e15;  // ns: eleven days
    if (const auto time = find(launch, kTime); time && *time < kLongest) {
      record.start = clock;
      record.end = clock += static_cast<std::uint64_t>(std::llround(*time));
    }
    trace.kernels.push_back(record);

    ProcessTrace::Counts counts = {.about = {}, .values = {}};
    counts.about.kind = kind;
    counts.about.correlation = number;
    for (const auto& [quantity, amount] : values) {
      const std::uint32_t index = builder.quantity(quantity);
      if (counts.values.size() <= index) counts.values.resize(index + 1, std::numeric_limits<double>::quiet_NaN());
      counts.values[index] = amount;
    }
    counts.about.values = static_cast<std::uint32_t>(counts.values.size());
    const std::vector<std::string> missing = missing_of(launch, values);
    if (!values.empty()) trace.counts.push_back(std::move(counts));
    if (missing.empty()) {
      whole.push_back(kind);
    } else {
      const std::string reason = fmt::format("the report has no {}", fmt::join(missing, ", no "));
      builder.without_work(kind, reason);
      short_of.insert(reason);
    }
  }
  if (!short_of.empty()) {
    // A second counter group that only complete launches have marks the others as incomplete.
    const spool::Id name = builder.text("all metrics of a bound");
    trace.metrics.push_back({.index = 0, .group = 1, .quantity = name, .name = name});
    for (const spool::Id kind : whole) {
      ProcessTrace::Counts counts = {.about = {}, .values = {}};
      counts.about.kind = kind;
      counts.about.group = 1;
      trace.counts.push_back(std::move(counts));
    }
    for (const std::string& reason : short_of) {
      profile.notes.push_back(reason + "; collect them with ncu --set roofline");
    }
  }
  for (auto& [index, device] : devices) {
    builder.device(device, profile.file);
    profile.devices.push_back(device);
  }
  // builder.finish() moves times to the first start, which is right as it is.
  trace.process.start = 1;
  trace.last_time = clock;
  trace.tally.kernels = trace.tally.launches = trace.kernels.size();
}

}  // namespace roofline
