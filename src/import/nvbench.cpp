// Numbers are strings in files of nvbench 0.1 and later. Summaries are found by their tags. Files from before tags, of
// 2021, name states and summaries by their keys: "states": {"Device=0 N=2^20": {"summaries": {"Average GPU Time
// (Cold)":
// {"value": {"type": "float64", "value": "1e-3"}}}}}.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/json_values.hpp"
#include "import/mean_rows.hpp"
#include "import/other_tools.hpp"

namespace roofline {
namespace {

std::uint32_t count_in(const nlohmann::json& object, std::string_view key) {
  constexpr double kMost = 1 << 30;
  return static_cast<std::uint32_t>(std::clamp(number_in(object, key).value_or(0), 0.0, kMost));
}

DeviceFacts nvbench_device(const nlohmann::json& json) {
  DeviceFacts device;
  device.index = std::min(count_in(json, "id"), 1023U);
  device.name = text_in(json, "name");
  const std::uint32_t version = count_in(json, "sm_version");  // 900
  device.compute_major = version / 100;
  device.compute_minor = version / 10 % 10;
  device.sms = count_in(json, "number_of_sms");
  device.core_hz = number_in(json, "sm_default_clock_rate").value_or(0);
  device.blocks_per_sm = count_in(json, "max_blocks_per_sm");
  device.threads_per_sm = count_in(json, "max_threads_per_sm");
  device.registers_per_sm = count_in(json, "registers_per_sm");
  device.registers_per_block = count_in(json, "registers_per_block");
  device.shared_per_sm = count_in(json, "shared_memory_per_sm");
  device.shared_per_block = count_in(json, "shared_memory_per_block");
  device.memory_bytes = number_in(json, "global_memory_size").value_or(0);
  device.l2_bytes = number_in(json, "l2_cache_size").value_or(0);
  device.memory_hz = number_in(json, "global_memory_bus_peak_clock_rate").value_or(0);
  device.bus_bits = number_in(json, "global_memory_bus_width").value_or(0);
  return device;
}

/// The value in a summary; 0 without it.
double value_in(const nlohmann::json& summary) {
  if (!summary.is_object()) return 0;
  if (const auto before_tags = summary.find("value"); before_tags != summary.end()) {
    return number_in(*before_tags, "value").value_or(0);
  }
  const auto data = summary.find("data");
  if (data == summary.end() || !data->is_array()) return 0;
  for (const nlohmann::json& value : *data) {
    if (text_in(value, "name") == "value") return number_in(value, "value").value_or(0);
  }
  return 0;
}

/// What a summary is called.
struct SummaryName {
  std::string_view tag, before_tags;
};

constexpr SummaryName kColdTime = {"nv/cold/time/gpu/mean", "Average GPU Time (Cold)"};
constexpr SummaryName kBatchTime = {"nv/batch/time/gpu/mean", "Average GPU Time (Batch)"};
constexpr SummaryName kRate = {"nv/cold/bw/global/bytes_per_second", "Average Global Memory Throughput"};
// The author's name for a buffer follows.
constexpr SummaryName kReads = {"nv/gmem/reads", "Input Buffer Size: "};
constexpr SummaryName kWrites = {"nv/gmem/writes", "Output Buffer Size: "};

/// The sum of a state's summaries whose name matches one; 0 without one.
template <typename Matches>
double sum_of_summaries(const nlohmann::json& state, SummaryName wanted, const Matches& matches) {
  const auto summaries = state.find("summaries");
  if (summaries == state.end()) return 0;
  double sum = 0;
  if (summaries->is_object()) {
    for (const auto& [name, summary] : summaries->items()) {
      if (matches(name, wanted.before_tags)) sum += value_in(summary);
    }
  }
  if (summaries->is_array()) {
    for (const nlohmann::json& summary : *summaries) {
      if (matches(text_in(summary, "tag"), wanted.tag)) sum += value_in(summary);
    }
  }
  return sum;
}

double summary_value(const nlohmann::json& state, SummaryName wanted) {
  return sum_of_summaries(state, wanted, [](std::string_view name, std::string_view of) { return name == of; });
}

/// The work of a state with so many bytes. Reads and writes are listed where the author named them: they are the
/// directions of all bytes only if they add up.
std::optional<Work> work_of_state(const nlohmann::json& state, double bytes) {
  std::optional<Work> work = stated_work(bytes, Pipe::fp32, 0);
  if (!work) return work;
  const auto listed = [&state](SummaryName wanted) {
    return sum_of_summaries(state, wanted,
                            [](std::string_view name, std::string_view of) { return name.starts_with(of); });
  };
  const double reads = listed(kReads), writes = listed(kWrites);
  constexpr double kExactness = 1e-3;  // the rate and the mean time are rounded
  if (reads >= 0 && writes >= 0 && std::abs(reads + writes - bytes) <= kExactness * bytes) {
    work->bytes[Level::hbm] = {.read = reads, .write = writes};
  }
  return work;
}

/// The values of its axes: "T=F32 Elements=2^20", without the device. `key`: of the state, in files from before tags.
std::string axes_of(const nlohmann::json& state, const std::string& key) {
  std::string name = key.empty() ? text_in(state, "name") : key;
  if (name.empty()) name = text_in(state, "description");
  if (name.starts_with("Device=")) name.erase(0, std::min(name.find(' '), name.size() - 1) + 1);
  return name;
}

/// What becomes of the states of a file.
struct NvbenchCounts {
  std::int64_t skipped = 0, without_gpu_time = 0, hot = 0;
};

void add_state(MeanRows& rows, NvbenchCounts& counts, const std::string& benchmark, const nlohmann::json& state,
               const std::string& key) {
  if (!state.is_object()) return;
  if (number_in(state, "is_skipped").value_or(0) != 0) {
    ++counts.skipped;
    return;
  }
  const double cold = summary_value(state, kColdTime);
  const double mean = cold > 0 ? cold : summary_value(state, kBatchTime);
  if (!(mean > 0)) {
    ++counts.without_gpu_time;
    return;
  }
  counts.hot += cold > 0 ? 0 : 1;
  constexpr double kNanoseconds = 1e9;
  // The rate is of cold runs: batches have a time only.
  const double bytes = cold > 0 ? summary_value(state, kRate) * cold : 0;
  rows.add({.name = benchmark.empty() ? "benchmark" : benchmark,
            .detail = axes_of(state, key),
            .time_ns = mean * kNanoseconds,
            .device = std::min(count_in(state, "device"), 1023U),
            .work = work_of_state(state, bytes),
            .cold_caches = cold > 0});
}

}  // namespace

ImportedProfile read_nvbench(ByteSource& source) {
  MeanRows rows(source, ImportedKind::nvbench, "nvbench",
                "the benchmark states no bytes (state.add_global_memory_reads and _writes)");
  std::vector<DeviceFacts> devices;
  std::string benchmark;
  NvbenchCounts counts;
  enum : std::size_t { kDevice, kName, kState };
  read_json_values(source,
                   {{"devices", "*"},
                    {"benchmarks", "*", "name"},
                    {"benchmarks", "*", "states", "*"},
                    {"benchmarks", "*", "states", kAnyMember}},
                   [&](std::size_t path, const nlohmann::json& value, const std::string& key) {
                     constexpr std::size_t kMostDevices = 1024;
                     if (path == kDevice && devices.size() < kMostDevices) devices.push_back(nvbench_device(value));
                     if (path == kName) benchmark = value.is_string() ? value.get<std::string>() : std::string();
                     if (path >= kState) add_state(rows, counts, benchmark, value, key);
                   });
  if (rows.empty()) source.fail("no state with a GPU time (\"nv/cold/time/gpu/mean\")");
  rows.notes().emplace_back("nvbench has mean GPU times; each state counts as one launch, and states no FLOPs");
  if (counts.skipped > 0) rows.notes().push_back(fmt::format("{} skipped states have no row", counts.skipped));
  if (counts.without_gpu_time > 0) {
    rows.notes().push_back(fmt::format("{} states without a GPU time have no row", counts.without_gpu_time));
  }
  if (counts.hot > 0) rows.notes().push_back(fmt::format("{} states have batch times only (warm caches)", counts.hot));
  return rows.finish(std::move(devices));
}

bool looks_like_nvbench(std::string_view beginning) {
  const auto has = [beginning](std::string_view key) { return beginning.find(key) != std::string_view::npos; };
  return has("\"benchmarks\"") && (has("\"nvbench\"") || has("\"sm_version\"") || has("\"states\""));
}

}  // namespace roofline
