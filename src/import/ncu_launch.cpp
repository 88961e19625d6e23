#include "import/ncu_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "import/ncu_metrics.hpp"
#include "model/counters.hpp"

namespace roofline {
namespace {

constexpr std::string_view kAttribute = "device__attribute_";

std::uint32_t small(double value) {
  return static_cast<std::uint32_t>(std::isfinite(value) ? std::clamp(value, 0.0, 4294967295.0) : 0);
}

DeviceFacts device_of(const NcuLaunch& launch) {
  const auto attribute = [&](std::string_view name) {
    return ncu_value(launch, fmt::format("{}{}", kAttribute, name)).value_or(0);
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

double flops_of(const std::map<std::string_view, double>& values) {
  Counters counters;
  for (const auto& [quantity, amount] : values) counters.values.emplace(quantity, amount);
  double sum = 0;
  for (const auto& [pipe, flops] : counted_flops(counters)) sum += flops;
  return sum;
}

/// The metrics that a bound needs and the report lacks.
std::vector<std::string> missing_of(const NcuLaunch& launch, const std::map<std::string_view, double>& values) {
  std::vector<std::string> missing;
  const bool split = values.contains("dram.read_bytes") && values.contains("dram.write_bytes");
  if (!split && !values.contains("dram.bytes"))
    missing.emplace_back("DRAM bytes (dram__bytes_read.sum, dram__bytes_write.sum)");
  if (!values.contains("fp32.fma") || !values.contains("fp32.add")) {
    missing.emplace_back("FP32 operations (smsp__sass_thread_inst_executed_op_f*_pred_on.sum)");
  }
  const bool tensor = std::any_of(values.begin(), values.end(), [](const auto& value) {
    return value.first.starts_with("tensor.") && value.first.ends_with("_ops");
  });
  if (!tensor && !ncu_tensor_cores_idle(launch, values).value_or(false)) {
    missing.emplace_back("tensor core operations (sm__ops_path_tensor_*.sum)");
  }
  return missing;
}

std::uint32_t whole_value(const NcuLaunch& launch, std::string_view metric) {
  return small(ncu_value(launch, metric).value_or(0));
}

/// Old versions have no columns of extents, but the numbers of blocks and threads, if these were collected. Zeros: not
/// known.
std::array<std::uint32_t, 3> extents_of(const std::array<std::uint32_t, 3>& extents, std::uint32_t count) {
  const bool one = extents == std::array<std::uint32_t, 3>{1, 1, 1};
  if (one && count > 1) return {count, 1, 1};
  return extents[0] == 0 && count > 0 ? std::array<std::uint32_t, 3>{count, 1, 1} : extents;
}

std::string reason_of(const std::vector<std::string>& missing) {
  return fmt::format("the report has no {}", fmt::join(missing, ", no "));
}

/// Adds launches to a trace, one after another.
class NcuTrace {
 public:
  explicit NcuTrace(ProcessTrace& trace) : trace_(trace), builder_(trace) {}

  void add(const NcuLaunch& launch) {
    if (!devices_.contains(launch.device)) devices_[launch.device] = device_of(launch);
    const std::map<std::string_view, double> values = ncu_quantities(launch);
    const spool::Id kind = kind_of(launch, values);
    for (std::uint32_t i = 0; i < launch.invocations; ++i) add_kernel(launch, kind, values);
    const std::vector<std::string> missing = missing_of(launch, values);
    if (missing.empty()) {
      whole_.push_back(kind);
    } else {
      builder_.without_work(kind, reason_of(missing));
      short_of_.insert(reason_of(missing));
    }
  }

  void finish(ImportedProfile& profile) {
    if (!short_of_.empty()) mark_whole();
    for (const std::string& reason : short_of_) {
      profile.notes.push_back(reason + "; collect them with ncu --set roofline");
    }
    if (trace_.counts.empty()) {
      trace_.notes.push_back({.time = 0,
                              .code = spool::NoteCode::not_counted,
                              .text = "the report has no counters; collect them with ncu --set roofline"});
    }
    if (untimed_ > 0) {
      profile.notes.push_back(
          fmt::format("{} of {} launches have no time: the report has no gpu__time_duration.sum for them; collect it "
                      "with ncu --set roofline or --metrics gpu__time_duration.sum",
                      untimed_, trace_.kernels.size()));
    }
    for (auto& [index, device] : devices_) {
      builder_.device(device, profile.file);
      profile.devices.push_back(device);
    }
    // builder.finish() moves times to the first start, which is right as it is.
    trace_.process.start = 1;
    trace_.last_time = clock_;
    trace_.tally.kernels = trace_.tally.launches = trace_.kernels.size();
  }

 private:
  spool::Id kind_of(const NcuLaunch& launch, const std::map<std::string_view, double>& values) {
    ImportedPlace place;
    for (const std::string& range : launch.ranges) place.range = builder_.range(place.range, range);
    ImportedKernel kernel = {.name = launch.name,
                             .grid = extents_of(launch.grid, whole_value(launch, "launch__grid_size")),
                             .block = extents_of(launch.block, whole_value(launch, "launch__block_size"))};
    kernel.cluster = {whole_value(launch, "launch__cluster_dim_x"), whole_value(launch, "launch__cluster_dim_y"),
                      whole_value(launch, "launch__cluster_dim_z")};
    kernel.dynamic_shared = whole_value(launch, "launch__shared_mem_per_block_dynamic");
    kernel.place = builder_.place(place);
    kernel.scalars = variant_of(builder_.kind(kernel), flops_of(values));
    return builder_.kind(kernel);
  }

  /// Launches of one kernel and grid with different FLOPs are different rows. Those of rates are rounded, so that equal
  /// launches may differ a little. 0: the first variant.
  std::uint64_t variant_of(spool::Id kind, double flops) {
    constexpr double kEqual = 1.02;
    std::map<double, std::uint64_t>& variants = variants_[kind];
    const auto near = variants.lower_bound(flops / kEqual);
    if (near != variants.end() && near->first <= flops * kEqual) return near->second;
    return variants.emplace(flops, variants.size()).first->second;
  }

  void add_kernel(const NcuLaunch& launch, spool::Id kind, const std::map<std::string_view, double>& values) {
    spool::Kernel record = {};
    record.correlation = ++number_;
    record.kind = kind;
    record.device = launch.device;
    record.context = launch.context;
    record.stream = launch.stream;
    record.registers = whole_value(launch, "launch__registers_per_thread");
    record.static_shared = whole_value(launch, "launch__shared_mem_per_block_static");
    record.local_bytes = whole_value(launch, "launch__local_mem_per_thread");
    constexpr double kLongest = 1e15;  // ns: eleven days
    if (const auto time = ncu_time(launch); time && *time < kLongest) {
      record.start = clock_;
      record.end = clock_ += static_cast<std::uint64_t>(std::llround(*time));
    } else {
      ++untimed_;
    }
    trace_.kernels.push_back(record);
    if (!values.empty()) add_counts(kind, values);
  }

  void add_counts(spool::Id kind, const std::map<std::string_view, double>& values) {
    ProcessTrace::Counts counts = {.about = {}, .values = {}};
    counts.about.kind = kind;
    counts.about.correlation = number_;
    for (const auto& [quantity, amount] : values) {
      const std::uint32_t index = builder_.quantity(quantity);
      if (counts.values.size() <= index) counts.values.resize(index + 1, std::numeric_limits<double>::quiet_NaN());
      counts.values[index] = amount;
    }
    counts.about.values = static_cast<std::uint32_t>(counts.values.size());
    trace_.counts.push_back(std::move(counts));
  }

  /// A second counter group that only complete launches have marks the others as incomplete.
  void mark_whole() {
    const spool::Id name = builder_.text("all metrics of a bound");
    trace_.metrics.push_back({.index = 0, .group = 1, .quantity = name, .name = name});
    for (const spool::Id kind : whole_) {
      ProcessTrace::Counts counts = {.about = {}, .values = {}};
      counts.about.kind = kind;
      counts.about.group = 1;
      trace_.counts.push_back(std::move(counts));
    }
  }

  ProcessTrace& trace_;
  TraceBuilder builder_;
  std::map<std::uint32_t, DeviceFacts> devices_;
  std::map<spool::Id, std::map<double, std::uint64_t>> variants_;  ///< by FLOPs
  std::set<std::string> short_of_;
  std::vector<spool::Id> whole_;  ///< kinds with all that a bound needs
  std::uint64_t clock_ = 1;
  std::uint32_t number_ = 0;
  std::int64_t untimed_ = 0;
};

}  // namespace

void add_ncu_launches(ImportedProfile& profile, const std::vector<NcuLaunch>& launches) {
  ProcessTrace& trace = profile.trace;
  trace.times_by = trace.counts_by = profile.tool;
  const bool means =
      std::any_of(launches.begin(), launches.end(), [](const NcuLaunch& launch) { return launch.invocations > 1; });
  trace.times = means ? TimeSource::averaged : TimeSource::replayed;
  if (means) profile.notes.emplace_back("a summary of ncu has means of the launches only, without their variation");
  profile.has_starts = false;
  NcuTrace builder(trace);
  for (const NcuLaunch& launch : launches) builder.add(launch);
  builder.finish(profile);
}

}  // namespace roofline
