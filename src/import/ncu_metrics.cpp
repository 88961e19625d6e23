// Spellings of ncu 2020 to 2026, chips and sections for each fact. An equal sign means the same count: a
// sub-partition's (smsp) sum is its SM's, and the GPU has one clock. Sources: NVIDIA's comparison of nvprof's metrics
// with ncu's, the section files of ncu, and NERSC's roofline method for time from cycles.
#include "import/ncu_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "device/cuda/counter_metrics.hpp"
#include "model/find.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// The GPU has one such unit: its sum is its mean.
constexpr std::string_view kTimeMetrics[] = {"gpu__time_duration.sum", "gpu__time_duration.avg",
                                             "gpu__time_duration.max", "gpu__time_active.sum",
                                             "gpu__time_active.avg",   "gpu__time_duration"};
constexpr std::string_view kDram = "dram__bytes.sum";
constexpr std::string_view kSum = ".sum";
constexpr std::string_view kPerSecond = ".per_second";
constexpr std::string_view kPerCycle = ".per_cycle_elapsed";
constexpr double kNano = 1e-9;
/// Cycles of the clock that operations are counted by; sub-partitions of an SM have its clock.
constexpr std::string_view kCycles[] = {"smsp__cycles_elapsed.avg", "sm__cycles_elapsed.avg"};
/// Cycles of a launch, where those of an SM are not in the report: the clusters of SMs (gpc) have the clock of the SMs.
constexpr std::string_view kSmCycles[] = {"sm__cycles_elapsed.avg", "smsp__cycles_elapsed.avg",
                                          "sm__cycles_elapsed.max", "gpc__cycles_elapsed.avg",
                                          "gpc__cycles_elapsed.max"};
/// Instructions of tensor cores; a report has some of these metrics.
constexpr std::string_view kTensorInstructions[] = {
    "sm__inst_executed_pipe_tensor.sum",
    "sm__inst_executed_pipe_tensor_op_hmma.sum",
    "sm__inst_executed_pipe_tensor_op_imma.sum",
    "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor_op_dmma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active"};

/// Names of a quantity besides those that roofline itself counts it by (counter_metrics()).
struct OtherSpelling {
  std::string_view id;
  std::string_view metric;
  double scale = 1;
};

constexpr double kSector = 32, kPercent = 0.01;
constexpr OtherSpelling kOtherSpellings[] = {
    {"dram.read_bytes", "dram__sectors_read.sum", kSector},
    {"dram.write_bytes", "dram__sectors_write.sum", kSector},
    {"l2.all_bytes", "lts__t_sectors.sum", kSector},
    {"l1.bytes", "l1tex__t_sectors.sum", kSector},
    {"global.load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {"global.load_sectors", "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", 1 / kSector},
    {"global.store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
    {"global.store_sectors", "l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum", 1 / kSector},
    {"global.load_instructions", "smsp__inst_executed_op_global_ld.sum"},
    {"global.store_instructions", "smsp__inst_executed_op_global_st.sum"},
    // A request is an instruction of a warp, also of 16 bytes per thread.
    {"global.load_instructions", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"global.store_instructions", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"global.load_instructions", "sass__inst_executed_global_loads"},
    {"global.store_instructions", "sass__inst_executed_global_stores"},
    {"shared.bank_conflicts", "derived__memory_l1_wavefronts_shared_excessive"},
    {"instructions", "sm__inst_executed.sum"},
    {"fp64.add", "sm__sass_thread_inst_executed_op_dadd_pred_on.sum"},
    {"fp64.mul", "sm__sass_thread_inst_executed_op_dmul_pred_on.sum"},
    {"fp64.fma", "sm__sass_thread_inst_executed_op_dfma_pred_on.sum"},
    {"fp32.add", "sm__sass_thread_inst_executed_op_fadd_pred_on.sum"},
    {"fp32.mul", "sm__sass_thread_inst_executed_op_fmul_pred_on.sum"},
    {"fp32.fma", "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"},
    {"half.add", "sm__sass_thread_inst_executed_op_hadd_pred_on.sum"},
    {"half.mul", "sm__sass_thread_inst_executed_op_hmul_pred_on.sum"},
    {"half.fma", "sm__sass_thread_inst_executed_op_hfma_pred_on.sum"},
    // ncu 2018 and 2019 on Pascal.
    {"dram.read_bytes", "dram__read_bytes"},
    {"dram.read_bytes", "dram__read_sectors", kSector},
    {"dram.write_bytes", "dram__write_bytes"},
    {"dram.write_bytes", "dram__write_sectors", kSector},
    {"occupancy", "sm__active_warps_avg_per_active_cycle_pct", kPercent},
    {"instructions", "smsp__inst_executed_sum"},
    {"issue.active", "smsp__issue_active_per_active_cycle_pct", kPercent},
    {"issue.eligible_warps", "smsp__eligible_warps_avg_per_active_cycle"},
    {"stall.long_scoreboard", "smsp__warp_cycles_per_issue_stall_long_scoreboard"},
    {"stall.short_scoreboard", "smsp__warp_cycles_per_issue_stall_short_scoreboard"},
    {"stall.barrier", "smsp__warp_cycles_per_issue_stall_barrier"},
    {"stall.wait", "smsp__warp_cycles_per_issue_stall_wait"},
    {"stall.math_pipe", "smsp__warp_cycles_per_issue_stall_math_pipe_throttle"},
    {"stall.mio", "smsp__warp_cycles_per_issue_stall_mio_throttle"},
    {"stall.not_selected", "smsp__warp_cycles_per_issue_stall_not_selected"},
    {"stall.no_instruction", "smsp__warp_cycles_per_issue_stall_no_instructions"},
    {"stall.selected", "smsp__warp_cycles_per_issue_stall_selected"},
};

/// Ratios of ncu's memory tables, by which a count that the report lacks follows from another one.
struct CountByRatio {
  std::string_view id;      ///< the count that is missing
  std::string_view from;    ///< the count that is known
  std::string_view metric;  ///< the ratio
  bool inverse = false;     ///< `from` is divided by it
};

constexpr CountByRatio kCountsByRatio[] = {
    {"global.load_instructions", "global.load_sectors",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", true},
    {"global.store_instructions", "global.store_sectors",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", true},
    {"global.load_bytes", "global.load_sectors", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"},
    {"global.store_bytes", "global.store_sectors", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"},
};

/// Sectors that global accesses touch, in all and beyond those that they need (ncu's source counters).
constexpr std::string_view kSectors = "memory_l2_theoretical_sectors_global";
constexpr std::string_view kIdealSectors = "memory_l2_theoretical_sectors_global_ideal";
constexpr std::string_view kExcessSectors = "derived__memory_l2_theoretical_sectors_global_excessive";

/// What the roofline sections count where the metric itself was not asked for: with and without sparsity.
std::string with_sparsity(std::string_view metric, bool on) {
  return fmt::format("{}_sparsity_{}.sum", metric.substr(0, metric.size() - kSum.size()), on ? "on" : "off");
}

std::string with(std::string_view metric, std::string_view suffix) { return fmt::format("{}{}", metric, suffix); }

std::optional<double> cycles_of(const NcuLaunch& launch) {
  const auto time = ncu_time(launch);
  for (const std::string_view cycles : kCycles) {
    if (const auto count = ncu_value(launch, cycles)) return count;
    if (const auto rate = ncu_value(launch, with(cycles, kPerSecond)); rate && time) return *rate * *time * kNano;
  }
  return std::nullopt;
}

/// A sum, as it is or as the rate that ncu's own sections collect: its roofline chart has nothing else of operations
/// (`ncu --set roofline`, `--set full`).
std::optional<double> sum_of(const NcuLaunch& launch, std::string_view metric) {
  if (const auto sum = ncu_value(launch, metric)) return sum;
  if (!metric.ends_with(kSum)) return std::nullopt;
  if (const auto rate = ncu_value(launch, with(metric, kPerCycle))) {
    if (const auto cycles = cycles_of(launch)) return std::round(*rate * *cycles);  // operations are whole
  }
  if (const auto rate = ncu_value(launch, with(metric, kPerSecond))) {
    if (const auto time = ncu_time(launch)) return *rate * *time * kNano;
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
  for (const OtherSpelling& other : kOtherSpellings) {
    if (other.id != metric.id) continue;
    if (const auto value = sum_of(launch, other.metric)) return *value * other.scale;
  }
  return std::nullopt;
}

/// One of its parts and the sum give the other; without them the directions are not known.
void split_dram_bytes(std::map<std::string_view, double>& values, double all) {
  const auto read = values.find("dram.read_bytes"), write = values.find("dram.write_bytes");
  if (read != values.end()) {
    values["dram.write_bytes"] = std::max(0.0, all - read->second);
  } else if (write != values.end()) {
    values["dram.read_bytes"] = std::max(0.0, all - write->second);
  } else {
    values["dram.bytes"] = all;
  }
}

void add_counts_by_ratio(std::map<std::string_view, double>& values, const NcuLaunch& launch) {
  for (const CountByRatio& count : kCountsByRatio) {
    const auto from = values.find(count.from);
    const auto ratio = ncu_value(launch, count.metric);
    if (values.contains(count.id) || from == values.end() || !ratio || !(*ratio > 0)) continue;
    values[count.id] = count.inverse ? from->second / *ratio : from->second * *ratio;
  }
}

void add_excess_sectors(std::map<std::string_view, double>& values, const NcuLaunch& launch) {
  const auto all = ncu_value(launch, kSectors), ideal = ncu_value(launch, kIdealSectors);
  auto excess = ncu_value(launch, kExcessSectors);
  if (!excess && all && ideal) excess = std::max(0.0, *all - *ideal);
  if (excess) values["global.excess_sectors"] = *excess;
  if (all) values["global.sectors"] = *all;
}

const std::set<std::string, std::less<>>& known_metrics() {
  static const std::set<std::string, std::less<>> kKnownMetrics = [] {
    std::set<std::string, std::less<>> names = {std::string(kDram),
                                                with(kDram, kPerSecond),
                                                "launch__registers_per_thread",
                                                "launch__shared_mem_per_block_static",
                                                "launch__shared_mem_per_block_dynamic",
                                                "launch__cluster_dim_x",
                                                "launch__cluster_dim_y",
                                                "launch__cluster_dim_z",
                                                "launch__local_mem_per_thread",
                                                "launch__grid_size",
                                                "launch__block_size",
                                                "smsp__pcsamp_interval",
                                                "smsp__pcsamp_interval_cycles",
                                                "smsp__pcsamp_dropped_bytes",
                                                "smsp__pcsamp_sample_buffer_full"};
    names.insert(std::begin(kTimeMetrics), std::end(kTimeMetrics));
    for (const char* attribute :
         {"display_name", "device_index", "compute_capability_major", "compute_capability_minor",
          "multiprocessor_count", "max_threads_per_multiprocessor", "max_blocks_per_multiprocessor",
          "max_registers_per_multiprocessor", "max_registers_per_block", "max_shared_memory_per_multiprocessor",
          "max_shared_memory_per_block", "max_warps_per_multiprocessor", "l2_cache_size", "clock_rate",
          "memory_clock_rate", "global_memory_bus_width"}) {
      names.insert(fmt::format("device__attribute_{}", attribute));
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
    for (const std::string_view cycles : kSmCycles) {
      names.emplace(cycles);
      names.insert(with(cycles, kPerSecond));
    }
    for (const std::string_view metric : kTensorInstructions) add(metric);
    for (const OtherSpelling& other : kOtherSpellings) add(other.metric);
    for (const CountByRatio& count : kCountsByRatio) add(count.metric);
    for (const std::string_view metric : {kSectors, kIdealSectors, kExcessSectors}) add(metric);
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
  return kKnownMetrics;
}

}  // namespace

bool is_ncu_metric(std::string_view name) { return known_metrics().contains(name); }

bool NcuMetricNames::take(std::string_view name) {
  const bool known = is_ncu_metric(name);
  known_ |= known;
  constexpr std::size_t kMost = 3;
  if (!known && others_.size() < kMost && !contains(others_, name)) others_.emplace_back(name);
  return known;
}

std::string NcuMetricNames::why_none() const {
  std::vector<std::string> names;
  constexpr int kColumns = 60;
  for (const std::string& name : others_) names.push_back(shorten(clean_line(name), kColumns));
  return fmt::format(
      "no known metric of ncu{}{}; looked for times (gpu__time_duration.sum), bytes (dram__bytes.sum) and operations "
      "(smsp__sass_thread_inst_executed_op_*.sum)",
      names.empty() ? "" : ", but ", fmt::join(names, ", "));
}

bool is_ncu_count(std::string_view name) {
  return name.ends_with(kSum) || starts_with_any(name, {"launch__", "memory_l2_", "derived__memory_", "sass__inst_"});
}

bool is_ncu_text(std::string_view name) { return name == "device__attribute_display_name"; }

std::string_view ncu_metric_of_label(std::string_view label, std::string_view unit) {
  static constexpr std::pair<std::string_view, std::string_view> kLabels[] = {
      {"Duration", "gpu__time_duration.sum"},
      {"Elapsed Cycles", "gpc__cycles_elapsed.max"},
      {"SM Frequency", "gpc__cycles_elapsed.avg.per_second"},
      {"SM Active Cycles", "sm__cycles_active.avg"},
      {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
      {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
      {"L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
      {"Registers Per Thread", "launch__registers_per_thread"},
      {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
      {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
      {"Grid Size", "launch__grid_size"},
      {"Block Size", "launch__block_size"}};
  // The share of the peak has the same label.
  if (label == "Memory Throughput" && unit.find("byte/s") != std::string_view::npos)
    return "dram__bytes.sum.per_second";
  for (const auto& [text, metric] : kLabels) {
    if (text == label) return metric;
  }
  return label;
}

std::optional<double> ncu_value(const NcuLaunch& launch, std::string_view metric) {
  const auto found = launch.values.find(metric);
  if (found == launch.values.end() || !std::isfinite(found->second) || found->second < 0) return std::nullopt;
  return found->second;
}

std::optional<double> ncu_time(const NcuLaunch& launch) {
  for (const std::string_view metric : kTimeMetrics) {
    if (const auto time = ncu_value(launch, metric)) return time;
  }
  for (const std::string_view cycles : kCycles) {
    const auto count = ncu_value(launch, cycles), rate = ncu_value(launch, with(cycles, kPerSecond));
    if (count && rate && *rate > 0) return *count / *rate / kNano;
  }
  return std::nullopt;
}

NcuClock ncu_clock(const NcuLaunch& launch) {
  NcuClock clock;
  for (const std::string_view cycles : kSmCycles) {
    if (!clock.cycles) clock.cycles = ncu_value(launch, cycles);
    if (!clock.hz) clock.hz = ncu_value(launch, with(cycles, kPerSecond));
  }
  const auto time = ncu_time(launch);
  if (!time || !(*time > 0)) return clock;
  if (!clock.hz && clock.cycles) clock.hz = *clock.cycles / (*time * kNano);
  if (!clock.cycles && clock.hz) clock.cycles = *clock.hz * *time * kNano;
  return clock;
}

/// The counters of a launch, under roofline's names.
std::map<std::string_view, double> ncu_quantities(const NcuLaunch& launch) {
  std::map<std::string_view, double> values;
  for (const CounterMetric& metric : counter_metrics()) {
    if (metric.id == "time_s" || metric.id == "sm.clock_hz") continue;  // below, and the launch's own
    if (const auto value = value_of(launch, metric)) values[metric.id] = *value;
  }
  add_counts_by_ratio(values, launch);
  add_excess_sectors(values, launch);
  if (const NcuClock clock = ncu_clock(launch); !values.empty()) {
    if (clock.hz && *clock.hz > 0) values["sm.clock_hz"] = *clock.hz;
    if (clock.cycles && *clock.cycles > 0) values["sm.elapsed_cycles"] = *clock.cycles;
  }
  if (!values.contains("dram.read_bytes") || !values.contains("dram.write_bytes")) {
    if (const auto all = sum_of(launch, kDram)) split_dram_bytes(values, *all);
  }
  return values;
}

std::optional<bool> ncu_tensor_cores_idle(const NcuLaunch& launch, const std::map<std::string_view, double>& values) {
  if (const auto active = values.find("tensor.active"); active != values.end()) return active->second == 0;
  std::optional<bool> idle;
  for (const std::string_view metric : kTensorInstructions) {
    if (const auto value = sum_of(launch, metric)) idle = idle.value_or(true) && *value == 0;
  }
  return idle;
}

}  // namespace roofline
