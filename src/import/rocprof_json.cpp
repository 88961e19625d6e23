// One element of "rocprofiler-sdk-tool" per process. Kernels are named by the ids of kernel_symbols, GPUs are agents of
// type 2. Counters are in callback_records: with --pmc alone, kernels have records there only.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "import/json_values.hpp"
#include "import/other_tools.hpp"
#include "import/rocm_counters.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kLatestTime = std::uint64_t{1} << 62U;

/// A whole number at a path of keys; 0 if there is none, or a negative one.
std::uint64_t whole_at(const nlohmann::json& object, std::initializer_list<std::string_view> keys) {
  const nlohmann::json* value = &object;
  for (const std::string_view key : keys) {
    if (!value->is_object()) return 0;
    const auto found = value->find(key);
    if (found == value->end()) return 0;
    value = &*found;
  }
  if (!value->is_number_integer()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value->get<std::int64_t>(), 0));
}

std::uint32_t small_at(const nlohmann::json& object, std::initializer_list<std::string_view> keys) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(whole_at(object, keys), 0xffffffffU));
}

/// Records of one process; ids are unique within it.
struct RocprofProcess {
  struct Agent {
    bool gpu = false;
    std::uint32_t index = 0;  ///< among the GPUs of the file
  };
  /// A dispatch whose kernel's name may follow.
  struct Dispatch {
    spool::Kernel record = {};
    std::uint64_t kernel = 0, id = 0;
    std::array<std::uint32_t, 3> grid = {}, block = {};
  };
  std::map<std::uint64_t, Agent> agents;                              ///< by handle
  std::unordered_map<std::uint64_t, std::string> kernels;             ///< names by id
  std::unordered_map<std::uint64_t, std::string> counters;            ///< names by handle
  std::vector<Dispatch> dispatches;                                   ///< of the kernel trace
  std::vector<Dispatch> counted;                                      ///< of counter collection
  std::vector<std::vector<std::pair<std::uint64_t, double>>> values;  ///< of each counted one: counter, value
  std::uint64_t process = 0;
};

class RocprofJson {
 public:
  explicit RocprofJson(ByteSource& source) : source_(source), builder_(profile_.trace) {}

  ImportedProfile read() {
    profile_.kind = ImportedKind::rocprof;
    profile_.tool = "rocprofv3";
    profile_.trace.times_by = profile_.tool;
    const std::string_view top = "rocprofiler-sdk-tool";
    std::vector<JsonPath> paths;
    for (const bool in_array : {true, false}) {  // older versions have one process and no array
      for (const JsonPath& part : kParts) {
        JsonPath path = {top};
        if (in_array) path.emplace_back("*");
        path.insert(path.end(), part.begin(), part.end());
        paths.push_back(std::move(path));
      }
    }
    read_json_values(source_, paths, [this](std::size_t path, const nlohmann::json& value) {
      take(static_cast<Part>(path % std::size(kParts)), value);
    });
    end_process();
    return finish();
  }

 private:
  enum Part : std::size_t { kMetadata, kAgent, kCounter, kSymbol, kCounted, kDispatch, kCopy };
  static inline const JsonPath kParts[] = {{"metadata"},
                                           {"agents", "*"},
                                           {"counters", "*"},
                                           {"kernel_symbols", "*"},
                                           {"callback_records", "counter_collection", "*"},
                                           {"buffer_records", "kernel_dispatch", "*"},
                                           {"buffer_records", "memory_copy", "*"}};

  void take(Part part, const nlohmann::json& value) {
    switch (part) {
      case kMetadata:
        end_process();
        process_.process = whole_at(value, {"pid"});
        break;
      case kAgent:
        take_agent(value);
        break;
      case kCounter:
        name(process_.counters, whole_at(value, {"id", "handle"}), text_in(value, "name"));
        break;
      case kSymbol:
        take_symbol(value);
        break;
      case kCounted:
        take_counted(value);
        break;
      case kDispatch:
        process_.dispatches.push_back(dispatch_of(value, value));
        break;
      case kCopy:
        copies_.push_back(value_of_copy(value));
        break;
    }
  }

  void name(std::unordered_map<std::uint64_t, std::string>& names, std::uint64_t id, std::string name) const {
    constexpr std::size_t kMost = std::size_t{1} << 22;
    if (names.size() >= kMost) source_.fail("more than 4 million names");
    names.try_emplace(id, std::move(name));
  }

  void take_agent(const nlohmann::json& value) {
    constexpr std::uint64_t kGpu = 2;
    constexpr std::size_t kMost = 1024;
    const bool gpu = whole_at(value, {"type"}) == kGpu;
    const std::uint64_t handle = whole_at(value, {"id", "handle"});
    if (process_.agents.size() >= kMost || profile_.devices.size() >= kMost) source_.fail("more than 1024 agents");
    const auto index = static_cast<std::uint32_t>(profile_.devices.size());
    if (!process_.agents.try_emplace(handle, RocprofProcess::Agent{gpu, index}).second || !gpu) return;
    DeviceFacts device;
    device.index = index;
    device.chip = text_in(value, "name");
    device.name = text_in(value, "product_name");
    if (device.name.empty()) device.name = device.chip;
    device.sms = small_at(value, {"cu_count"});
    constexpr double kMega = 1e6;
    device.core_hz = static_cast<double>(small_at(value, {"max_engine_clk_fcompute"})) * kMega;
    profile_.devices.push_back(device);
  }

  /// The mangled name, without what the code object adds to it.
  void take_symbol(const nlohmann::json& value) {
    constexpr std::string_view kDescriptor = ".kd";
    std::string symbol = text_in(value, "kernel_name");
    if (symbol.ends_with(kDescriptor)) symbol.resize(symbol.size() - kDescriptor.size());
    if (symbol.empty()) symbol = text_in(value, "formatted_kernel_name");
    name(process_.kernels, whole_at(value, {"kernel_id"}), std::move(symbol));
  }

  /// Times are beside "dispatch_info".
  RocprofProcess::Dispatch dispatch_of(const nlohmann::json& value, const nlohmann::json& record) const {
    constexpr std::size_t kMost = std::size_t{1} << 26;
    if (process_.dispatches.size() >= kMost) source_.fail("more than 67 million kernel dispatches");
    static const nlohmann::json kNothing = nlohmann::json::object();
    const auto found = value.is_object() ? value.find("dispatch_info") : value.end();
    const nlohmann::json& info = value.is_object() && found != value.end() ? *found : kNothing;
    RocprofProcess::Dispatch dispatch;
    dispatch.kernel = whole_at(info, {"kernel_id"});
    dispatch.id = whole_at(info, {"dispatch_id"});
    static constexpr std::string_view kAxes[] = {"x", "y", "z"};
    for (std::size_t i = 0; i < 3; ++i) {
      dispatch.block[i] = small_at(info, {"workgroup_size", kAxes[i]});
      const std::uint32_t items = small_at(info, {"grid_size", kAxes[i]}), each = std::max(1U, dispatch.block[i]);
      dispatch.grid[i] = items / each + (items % each != 0 ? 1 : 0);
    }
    spool::Kernel& kernel = dispatch.record;
    set_times(kernel, value);
    kernel.device = gpu(whole_at(info, {"agent_id", "handle"}));
    const std::uint32_t stream = small_at(record, {"stream_id", "handle"});
    kernel.stream = stream != 0 ? stream : small_at(info, {"queue_id", "handle"});
    kernel.correlation = small_at(record, {"correlation_id", "internal"});
    kernel.static_shared = small_at(info, {"group_segment_size"});
    kernel.local_bytes = small_at(info, {"private_segment_size"});
    return dispatch;
  }

  template <typename Record>
  void set_times(Record& record, const nlohmann::json& value) const {
    record.start = whole_at(value, {"start_timestamp"});
    record.end = whole_at(value, {"end_timestamp"});
    if (record.start > kLatestTime || record.end > kLatestTime) source_.fail("a time later than 146 years");
    if (record.end < record.start) record.start = record.end = 0;  // no times
  }

  std::uint32_t gpu(std::uint64_t handle) const {
    const auto found = process_.agents.find(handle);
    return found == process_.agents.end() ? 0 : found->second.index;
  }

  /// Instances of a counter (XCDs, channels) are values of one id.
  void take_counted(const nlohmann::json& value) {
    if (!value.is_object() || !value.contains("dispatch_data")) return;
    const nlohmann::json& data = value["dispatch_data"];
    process_.counted.push_back(dispatch_of(data, data));
    auto& values = process_.values.emplace_back();
    const auto records = value.find("records");
    if (records == value.end() || !records->is_array()) return;
    std::map<std::uint64_t, double> sums;
    for (const nlohmann::json& record : *records) {
      sums[whole_at(record, {"counter_id", "handle"})] += number_in(record, "value").value_or(0);
    }
    values.assign(sums.begin(), sums.end());
  }

  spool::Copy value_of_copy(const nlohmann::json& value) const {
    constexpr std::size_t kMost = std::size_t{1} << 26;
    if (copies_.size() >= kMost) source_.fail("more than 67 million copies");
    spool::Copy copy = {};
    set_times(copy, value);
    copy.bytes = whole_at(value, {"bytes"});
    copy.correlation = small_at(value, {"correlation_id", "internal"});
    copy.stream = small_at(value, {"stream_id", "handle"});
    const auto end = [&](const char* key) {
      const auto found = process_.agents.find(whole_at(value, {key, "handle"}));
      return found == process_.agents.end() ? RocprofProcess::Agent{} : found->second;
    };
    const RocprofProcess::Agent from = end("src_agent_id"), to = end("dst_agent_id");
    copy.from = from.gpu ? spool::Memory::device : spool::Memory::pageable;
    copy.to = to.gpu ? spool::Memory::device : spool::Memory::pageable;
    copy.device = from.gpu ? from.index : to.index;
    copy.peer = to.gpu ? to.index : copy.device;
    return copy;
  }

  /// Resolves its ids.
  void end_process() {
    std::unordered_set<std::uint64_t> traced;
    for (const RocprofProcess::Dispatch& dispatch : process_.dispatches) {
      traced.insert(dispatch.id);
      profile_.trace.kernels.push_back(kernel_of(dispatch));
    }
    for (std::size_t i = 0; i < process_.counted.size(); ++i) {
      const RocprofProcess::Dispatch& dispatch = process_.counted[i];
      const spool::Kernel kernel = kernel_of(dispatch);
      if (traced.insert(dispatch.id).second) profile_.trace.kernels.push_back(kernel);
      for (const auto& [counter, value] : process_.values[i]) {
        const auto found = process_.counters.find(counter);
        if (found == process_.counters.end()) source_.fail(fmt::format("no counter has the id {}", counter));
        if (RocmCounters::wants(found->second)) counters_.add(kernel.kind, found->second, value);
      }
    }
    process_ = {};
  }

  spool::Kernel kernel_of(const RocprofProcess::Dispatch& dispatch) {
    const auto name = process_.kernels.find(dispatch.kernel);
    if (name == process_.kernels.end()) {
      source_.fail(fmt::format("no kernel symbol has the id {} of a dispatch", dispatch.kernel));
    }
    spool::Kernel kernel = dispatch.record;
    ImportedKernel launch;
    launch.name = name->second;
    launch.grid = dispatch.grid;
    launch.block = dispatch.block;
    kernel.kind = builder_.kind(launch);
    return kernel;
  }

  ImportedProfile finish() {
    ProcessTrace& trace = profile_.trace;
    trace.copies = std::move(copies_);
    if (trace.kernels.empty() && trace.copies.empty()) {
      source_.fail("no kernel dispatch and no copy: record with rocprofv3 --kernel-trace --memory-copy-trace");
    }
    finish_rocprofv3(profile_, builder_, counters_, source_.name());
    return std::move(profile_);
  }

  ByteSource& source_;
  ImportedProfile profile_;
  TraceBuilder builder_;
  RocprofProcess process_;
  RocmCounters counters_;
  std::vector<spool::Copy> copies_;
};

}  // namespace

ImportedProfile read_rocprof_json(ByteSource& source) { return RocprofJson(source).read(); }

bool looks_like_rocprof_json(std::string_view beginning) {
  return beginning.find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
}

}  // namespace roofline
