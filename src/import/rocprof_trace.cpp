// results.json of rocprof (v1) with --hip-trace or --sys-trace: a Chrome trace whose numbers are strings and whose
// times are whole microseconds; the exact ones are arguments. Kernels are on tracks "GPU4", copies on "COPY".
// "otherData" has the lines of rocminfo without blanks: "Agent5.Node": "4", "Agent5.MarketingName":
// "AMDInstinctMI300A".
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/clean_times.hpp"
#include "import/json_values.hpp"
#include "import/other_tools.hpp"
#include "text/format.hpp"
#include "text/parse.hpp"
#include "text/parts.hpp"

namespace roofline {
namespace {

constexpr const char* kWithLaunches =
    "rocprof --timestamp on, and import results.csv; or rocprofv3 --kernel-trace --output-format json";

std::optional<std::int64_t> whole(const nlohmann::json& object, std::string_view key) {
  return parsed_number<std::int64_t>(text_in(object, key));
}

/// From 0 on; 0 also for what is no number.
std::uint32_t index_in(const nlohmann::json& object, std::string_view key, double most) {
  return static_cast<std::uint32_t>(std::clamp(number_in(object, key).value_or(0), 0.0, most));
}

/// A number as rocminfo prints it: "228", "64(0x40)".
double first_number(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return parsed_number<double>(text.substr(0, static_cast<std::size_t>(end - text.begin()))).value_or(0);
}

class RocprofTrace {
 public:
  explicit RocprofTrace(ByteSource& source) : source_(source), builder_(profile_.trace) {}

  ImportedProfile read() {
    profile_.kind = ImportedKind::rocprof;
    profile_.tool = "rocprof";
    profile_.trace.times_by = profile_.tool;
    nlohmann::json system;
    read_json_values(source_, {{"traceEvents", "*"}, {"otherData"}},
                     [&](std::size_t path, const nlohmann::json& value) {
                       if (path == 0) return take(value);
                       system = value;
                     });
    ProcessTrace& trace = profile_.trace;
    if (trace.kernels.empty() && trace.copies.empty()) {
      source_.fail("a trace of rocprof (v1) without kernels and copies", kWithLaunches);
    }
    for (const std::uint32_t gpu : gpus_) {
      profile_.devices.push_back(device_of(system, gpu));
      builder_.device(profile_.devices.back(), source_.name());
    }
    clean_times(trace, profile_.time_defects);
    builder_.finish();
    note_no_counters(trace, "rocprof", profile_.devices);
    profile_.notes.emplace_back("this trace has no sizes of launches and copies; rocprof's results.csv has grids");
    if (calls_ > 0) {
      profile_.notes.push_back(fmt::format("{} of HIP and HSA have no rows", counted_noun(calls_, "call", "calls")));
    }
    return std::move(profile_);
  }

 private:
  enum class Track : std::uint8_t { kernels, copies };

  void take(const nlohmann::json& event) {
    constexpr std::uint32_t kMost = 4096;
    const std::uint32_t track = index_in(event, "pid", kMost);
    if (text_in(event, "ph") == "M" && text_in(event, "name") == "process_name") {
      const auto names = event.find("args");
      const std::string name = names == event.end() ? std::string() : text_in(*names, "name");
      if (name.starts_with("GPU")) tracks_[track] = Track::kernels;
      if (name == "COPY") tracks_[track] = Track::copies;
      return;
    }
    if (text_in(event, "ph") != "X") return;
    const auto found = tracks_.find(track);
    const auto arguments = event.find("args");
    if (found == tracks_.end() || arguments == event.end()) {
      ++calls_;
      return;
    }
    if (found->second == Track::kernels) return add_kernel(event, *arguments);
    add_copy(text_in(event, "name"), *arguments);
  }

  template <typename Record>
  Record record_of(const nlohmann::json& arguments) {
    Record record = {};
    const Span when = times_from_ns(whole(arguments, "BeginNs"), whole(arguments, "EndNs")).value_or(Span{});
    record.start = when.start;
    record.end = when.end;
    record.device = gpu(arguments);
    record.stream = index_in(arguments, "stream-id", 1e9);
    return record;
  }

  std::uint32_t gpu(const nlohmann::json& arguments) {
    constexpr double kMost = 1023;
    const std::uint32_t index = index_in(arguments, "dev-id", kMost);
    if (std::find(gpus_.begin(), gpus_.end(), index) == gpus_.end()) gpus_.push_back(index);
    return index;
  }

  void add_kernel(const nlohmann::json& event, const nlohmann::json& arguments) {
    auto kernel = record_of<spool::Kernel>(arguments);
    const std::string name = text_in(event, "name");
    kernel.kind = builder_.kind({.name = without_descriptor(name)});
    if (kernel.kind > reasoned_) {
      builder_.without_work(reasoned_ = kernel.kind, "rocprof's trace has no counters of FLOPs or bytes");
    }
    profile_.trace.kernels.push_back(kernel);
  }

  void add_copy(std::string_view name, const nlohmann::json& arguments) {
    auto copy = record_of<spool::Copy>(arguments);
    copy.peer = copy.device;
    const auto memory = [](bool host, bool device) {
      return host ? spool::Memory::host : device ? spool::Memory::device : spool::Memory::unknown;
    };
    copy.from = memory(name.starts_with("CopyHostTo"), name.starts_with("CopyDeviceTo"));
    copy.to = memory(name.ends_with("ToHost"), name.ends_with("ToDevice"));
    profile_.trace.copies.push_back(copy);
  }

  /// Tracks and records have the number of a node of HSA, which CPUs have too.
  static DeviceFacts device_of(const nlohmann::json& system, std::uint32_t node) {
    DeviceFacts device = {.index = node, .is_amd = true};
    if (!system.is_object()) return device;
    for (const auto& [key, value] : system.items()) {
      constexpr std::string_view kNode = ".Node";
      if (!key.starts_with("Agent") || !key.ends_with(kNode) || !value.is_string()) continue;
      if (value.get_ref<const std::string&>() != std::to_string(node)) continue;
      const std::string agent = key.substr(0, key.size() - kNode.size());
      if (text_in(system, agent + ".DeviceType") != "GPU") continue;
      device.chip = text_in(system, agent + ".Name");
      device.name = with_blanks(text_in(system, agent + ".MarketingName"));
      if (device.name.empty()) device.name = device.chip;
      device.sms = static_cast<std::uint32_t>(first_number(text_in(system, agent + ".ComputeUnit")));
      constexpr double kMega = 1e6;
      device.core_hz = first_number(text_in(system, agent + ".MaxClockFreq.(MHz)")) * kMega;
    }
    return device;
  }

  /// "AMDInstinctMI300A" as "AMD Instinct MI300A".
  static std::string with_blanks(std::string name) {
    constexpr std::string_view kWritten = "AMDInstinct";
    if (name.starts_with(kWritten)) name.replace(0, kWritten.size(), "AMD Instinct ");
    return name;
  }

  ByteSource& source_;
  ImportedProfile profile_;
  TraceBuilder builder_;
  std::map<std::uint32_t, Track> tracks_;  ///< by the number of their process
  std::vector<std::uint32_t> gpus_;        ///< in the order of the file
  std::int64_t calls_ = 0;
  spool::Id reasoned_ = 0;  ///< last signature that has its reason: new ones have higher ids
};

}  // namespace

ImportedProfile read_rocprof_trace(ByteSource& source) { return RocprofTrace(source).read(); }

bool looks_like_rocprof_trace(std::string_view beginning) {
  return contains_any(beginning, {"\"traceEvents\""}) && contains_any(beginning, {"\"BeginNs\""});
}

}  // namespace roofline
