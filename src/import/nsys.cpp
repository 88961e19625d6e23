// Tables and columns differ between versions: each is optional.
#include "import/nsys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "import/sqlite_database.hpp"
#include "model/error.hpp"
#include "text/demangle.hpp"
#include "text/parts.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHint = "write the file with nsys export --type sqlite";

/// "globalTid" is a machine, a process and a thread in one number.
std::uint32_t thread_of(std::int64_t global) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(global) % 0x1000000U);
}
std::int64_t process_of(std::int64_t global) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(global) / 0x1000000U % 0x1000000U);
}

struct Range {
  std::uint64_t start = 0, end = 0;
  std::int64_t thread = 0;  ///< global
  std::string name;
};

/// A launch's moment, to be found among the ranges of its thread.
struct Moment {
  std::int64_t thread = 0;
  std::uint64_t time = 0;
  std::int64_t key = 0;  ///< of the call
};

class Nsys {
 public:
  explicit Nsys(const fs::path& file) : database_(file, kHint), file_(file.string()) {}

  ImportedProfile read() {
    if (!database_.has("StringIds")) {
      throw UsageError(fmt::format("{}: an SQLite database, but not an Nsight Systems export", file_), kHint);
    }
    profile_.kind = ImportedKind::nsys;
    profile_.tool = "nsys" + version();
    profile_.trace.times_by = profile_.tool;
    TraceBuilder builder(profile_.trace);
    read_strings();
    read_devices(builder);
    read_calls(builder);
    read_ranges(builder);
    read_kernels(builder);
    read_transfers(builder);
    clean_times(profile_.trace, profile_.time_defects);
    builder.finish();
    profile_.whole_graphs = whole_graphs_of(profile_.trace, whole_graphs_);
    note_no_counters(profile_.trace, "nsys");
    if (profile_.trace.kernels.empty()) {
      profile_.notes.push_back(why_no_kernels(
          profile_.trace, "let the program end by itself, after cudaDeviceSynchronize(); use an nsys for its driver",
          "the file has no kernels (record with nsys profile --trace cuda,nvtx)"));
    }
    quote_messages_about_lost_records();
    return std::move(profile_);
  }

 private:
  std::string version() {
    std::string text;
    for (const char* table : {"META_DATA_EXPORT", "META_DATA_CAPTURE"}) {
      database_.rows(table, {"name", "value"}, [&](const SqliteRow& row) {
        if (text.empty() && row.text(0) == "EXPORT_SCHEMA_VERSION") text = " (schema " + row.text(1) + ")";
      });
    }
    return text;
  }

  void quote_messages_about_lost_records() {
    std::set<std::string> quoted;
    database_.rows("DIAGNOSTIC_EVENT", {"text"}, [&](const SqliteRow& row) {
      const std::string text = shorten(clean_line(row.text(0)), 240);
      const bool lost = contains_any(text, {"dropped", "not supported"}) && !contains_any(text, {"dropped: 0"});
      if (!lost || !contains_any(text, {"CUDA", "CUPTI"}) || quoted.size() == 4) return;
      if (quoted.insert(text).second) profile_.notes.push_back(fmt::format("nsys: \"{}\"", text));
    });
  }

  void read_strings() {
    database_.rows("StringIds", {"id", "value"},
                   [&](const SqliteRow& row) { strings_.emplace(row.integer(0), row.text(1)); });
  }

  /// A name is an index into the strings, or in old versions a text.
  const std::string& string(const SqliteRow& row, std::size_t column) {
    static const std::string kNone;
    const auto found = strings_.find(row.integer(column, -1));
    return found == strings_.end() ? kNone : found->second;
  }

  void read_devices(TraceBuilder& builder) {
    database_.rows("TARGET_INFO_GPU",
                   {"id", "name", "totalMemory", "clockRate", "smCount", "l2CacheSize", "maxWarpsPerSm", "chipName",
                    "maxBlocksPerSm", "maxRegistersPerSm", "maxShmemPerSm", "computeMajor", "computeMinor",
                    "threadsPerWarp", "maxRegistersPerBlock", "maxShmemPerBlock", "cuDevice", "memoryBandwidth"},
                   [&](const SqliteRow& row) {
                     // Windows lists display adapters with the index of a GPU.
                     if (row.has(4) && row.integer(4) == 0) return;
                     DeviceFacts device;
                     device.index = row.has(16) ? row.small(16) : row.small(0);
                     device.name = row.text(1);
                     device.memory_bytes = row.number(2);
                     device.core_hz = row.number(3);
                     device.sms = row.small(4);
                     device.l2_bytes = row.number(5);
                     device.warps_per_sm = row.small(6);
                     device.chip = row.text(7);
                     device.blocks_per_sm = row.small(8);
                     device.registers_per_sm = row.small(9);
                     device.shared_per_sm = row.small(10);
                     device.compute_major = row.small(11);
                     device.compute_minor = row.small(12);
                     device.threads_per_sm = device.warps_per_sm * std::max(1U, row.small(13));
                     device.registers_per_block = row.small(14);
                     device.shared_per_block = row.small(15);
                     device.memory_bytes_per_s = row.number(17);
                     profile_.devices.push_back(device);
                   });
    constexpr std::size_t kMost = 256;
    if (profile_.devices.size() > kMost) profile_.devices.resize(kMost);
    for (const DeviceFacts& device : profile_.devices) builder.device(device, file_);
  }

  /// Times of a row that begins with start and end.
  static std::optional<Span> times(const SqliteRow& row) {
    return times_from_ns(row.integer(0, -1), row.integer(1, -1));
  }

  void read_calls(TraceBuilder& builder) {
    for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
      database_.rows(table, {"start", "end", "correlationId", "nameId", "globalTid"}, [&](const SqliteRow& row) {
        const std::int64_t thread = row.integer(4);
        const std::string_view name = plain(string(row, 3));
        const auto when = times(row);
        if (!when) return profile_.time_defects.host.add(name);
        const std::int64_t key = key_of(process_of(thread), row.integer(2));
        moments_.push_back({.thread = thread, .time = when->start, .key = key});
        builder.call(
            name, {.start = when->start, .end = when->end, .correlation = number_of(key), .thread = thread_of(thread)});
        if (profile_.trace.process.pid == 0) {
          profile_.trace.process.pid = static_cast<std::uint32_t>(process_of(thread));
        }
      });
    }
  }

  /// "cudaLaunchKernel_v7000".
  static std::string_view plain(std::string_view name) {
    const std::size_t version = name.rfind("_v");
    const bool numbered = version != std::string_view::npos && version + 2 < name.size() &&
                          name.find_first_not_of("0123456789", version + 2) == std::string_view::npos;
    constexpr std::size_t kDigits = 4;
    return numbered && name.size() - version - 2 >= kDigits ? name.substr(0, version) : name;
  }

  /// Correlations are one process's alone.
  static std::int64_t key_of(std::int64_t process, std::int64_t correlation) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(process) << 40U ^
                                     static_cast<std::uint64_t>(correlation));
  }
  static std::int64_t key_of(const SqliteRow& activity) {
    return key_of(process_of(activity.integer(6)), activity.integer(5));
  }
  std::uint32_t number_of(std::int64_t key) {
    return correlations_.try_emplace(key, static_cast<std::uint32_t>(correlations_.size() + 1)).first->second;
  }

  void read_ranges(TraceBuilder& builder) {
    constexpr std::int64_t kPushPop = 59;
    std::vector<Range> ranges;
    database_.rows(
        "NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid"}, [&](const SqliteRow& row) {
          if (row.integer(2, kPushPop) != kPushPop || !row.has(0) || !row.has(1)) return;  // one that never ended
          std::string name = row.text(3);
          if (name.empty()) name = string(row, 4);
          const auto when = times(row);
          if (!when) return profile_.time_defects.host.add(name);
          ranges.push_back({.start = when->start, .end = when->end, .thread = row.integer(5), .name = std::move(name)});
        });
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
      return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
    });
    std::sort(moments_.begin(), moments_.end(),
              [](const Moment& a, const Moment& b) { return std::tie(a.thread, a.time) < std::tie(b.thread, b.time); });
    struct Open {
      const Range* range;
      spool::Id id;
    };
    std::vector<Open> stack;
    std::size_t next = 0;
    const auto open_until = [&](std::int64_t thread, std::uint64_t time) {
      for (; next < ranges.size(); ++next) {
        const Range& range = ranges[next];
        if (std::tie(range.thread, range.start) > std::tie(thread, time)) break;
        close(stack, range.thread, range.start);
        constexpr std::size_t kDeepest = 4096;
        if (stack.size() >= kDeepest) database_.fail_row("NVTX_EVENTS", "more than 4096 nested ranges");
        const spool::Id id = builder.range(stack.empty() ? 0 : stack.back().id, range.name);
        profile_.trace.range_times.push_back(
            {.start = range.start, .end = range.end, .range = id, .thread = thread_of(range.thread)});
        stack.push_back({&range, id});
      }
      close(stack, thread, time);
    };
    for (const Moment& moment : moments_) {
      open_until(moment.thread, moment.time);
      if (!stack.empty()) range_of_[moment.key] = stack.back().id;
    }
    open_until(std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::uint64_t>::max());
    moments_ = {};
  }

  template <typename Stack>
  static void close(Stack& stack, std::int64_t thread, std::uint64_t time) {
    std::erase_if(stack, [&](const auto& open) { return open.range->thread != thread || open.range->end < time; });
  }

  /// A device missing from the table gets the facts of the first one.
  std::uint32_t device(std::uint32_t index, TraceBuilder& builder) {
    const bool known = std::any_of(profile_.devices.begin(), profile_.devices.end(),
                                   [&](const DeviceFacts& facts) { return facts.index == index; });
    if (!known) {
      DeviceFacts facts = profile_.devices.empty() ? DeviceFacts{} : profile_.devices.front();
      facts.index = index;
      constexpr std::size_t kMost = 1024;
      if (profile_.devices.size() >= kMost) database_.fail_row("CUPTI_ACTIVITY_KIND_KERNEL", "more than 1024 devices");
      profile_.devices.push_back(facts);
      builder.device(facts, file_);
    }
    return index;
  }

  /// Contexts are numbered by each process.
  std::uint32_t context(std::int64_t process, std::uint32_t number) {
    return contexts_.try_emplace({process, number}, static_cast<std::uint32_t>(contexts_.size() + 1)).first->second;
  }

  /// What kernels, copies and fills have in common, in the first seven columns of their tables.
  template <typename Record>
  Record activity(const SqliteRow& row, TraceBuilder& builder) {
    Record record = {};
    const Span when = times(row).value_or(Span{});
    record.start = when.start;
    record.end = when.end;
    record.correlation = number_of(key_of(row));
    record.device = device(row.small(2), builder);
    record.context = context(process_of(row.integer(6)), row.small(3));
    record.stream = row.small(4);
    return record;
  }

  /// Place of an activity's launch.
  spool::Id place_of(const SqliteRow& row, TraceBuilder& builder) const {
    const auto range = range_of_.find(key_of(row));
    return range == range_of_.end() ? 0 : builder.place({.range = range->second});
  }

  /// The mangled name, unless it cannot be demangled here: libstdc++ rejects some names of nested templates.
  const std::string& name_of_kernel(const SqliteRow& row) {
    constexpr std::size_t kMangled = 7, kDemangled = 8, kShort = 9;
    const std::string& mangled = string(row, kMangled);
    const std::string& demangled_by_nsys = string(row, kDemangled);
    const auto [found, is_new] = is_readable_.try_emplace(row.integer(kMangled, -1), !mangled.empty());
    if (is_new && mangled.starts_with("_Z")) found->second = demangled(mangled) != mangled;
    if (found->second || (demangled_by_nsys.empty() && !mangled.empty())) return mangled;
    return demangled_by_nsys.empty() ? string(row, kShort) : demangled_by_nsys;
  }

  void read_kernels(TraceBuilder& builder) {
    const char* table = "CUPTI_ACTIVITY_KIND_KERNEL";
    database_.rows(table,
                   {"start",
                    "end",
                    "deviceId",
                    "contextId",
                    "streamId",
                    "correlationId",
                    "globalPid",
                    "mangledName",
                    "demangledName",
                    "shortName",
                    "gridX",
                    "gridY",
                    "gridZ",
                    "blockX",
                    "blockY",
                    "blockZ",
                    "clusterX",
                    "clusterY",
                    "clusterZ",
                    "dynamicSharedMemory",
                    "staticSharedMemory",
                    "registersPerThread",
                    "localMemoryPerThread",
                    "graphId",
                    "graphNodeId"},
                   [&](const SqliteRow& row) {
                     ImportedKernel kernel;
                     kernel.name = name_of_kernel(row);
                     kernel.grid = {row.small(10), row.small(11), row.small(12)};
                     kernel.block = {row.small(13), row.small(14), row.small(15)};
                     kernel.cluster = {row.small(16), row.small(17), row.small(18)};
                     kernel.dynamic_shared = row.small(19);
                     auto record = activity<spool::Kernel>(row, builder);
                     kernel.place = place_of(row, builder);
                     record.kind = builder.kind(kernel);
                     record.static_shared = row.small(20);
                     record.registers = row.small(21);
                     record.local_bytes = row.small(22);
                     record.graph_node = static_cast<std::uint64_t>(row.integer(24));
                     profile_.trace.kernels.push_back(record);
                   });
    // Graphs traced as a whole have no kernel records, only a total time.
    const char* graphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    database_.rows(graphs,
                   {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphId"},
                   [&](const SqliteRow& row) {
                     auto record = activity<spool::Kernel>(row, builder);
                     const std::string name = fmt::format("graph {}", row.integer(7));
                     record.kind = builder.kind({.name = name, .place = place_of(row, builder), .whole_graph = true});
                     profile_.trace.kernels.push_back(record);
                     builder.without_work(record.kind, "graph traced as a whole (use --cuda-graph-trace=node)");
                     whole_graphs_.insert(record.kind);
                   });
  }

  static spool::Memory memory(std::int64_t kind) {
    using enum spool::Memory;
    constexpr spool::Memory kKinds[] = {pageable, pinned, device, array, managed, device /* __device__ */, managed};
    const auto index = static_cast<std::size_t>(kind);
    return kind >= 0 && index < std::size(kKinds) ? kKinds[index] : spool::Memory::unknown;
  }

  void read_transfers(TraceBuilder& builder) {
    const char* copies = "CUPTI_ACTIVITY_KIND_MEMCPY";
    database_.rows(copies,
                   {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes",
                    "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"},
                   [&](const SqliteRow& row) {
                     auto copy = activity<spool::Copy>(row, builder);
                     copy.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(7)));
                     copy.peer = copy.device;
                     constexpr std::int64_t kToDevice = 1, kToHost = 2, kPeer = 10;
                     constexpr std::int64_t kUnifiedToDevice = 11, kUnifiedToHost = 12, kUnifiedBetween = 13;
                     const std::int64_t way = row.integer(8);
                     copy.from = row.has(9)         ? memory(row.integer(9))
                                 : way == kToDevice ? spool::Memory::pageable
                                                    : spool::Memory::device;
                     copy.to = row.has(10)      ? memory(row.integer(10))
                               : way == kToHost ? spool::Memory::pageable
                                                : spool::Memory::device;
                     // Pages that the driver moves have memory kinds "unknown".
                     if (way >= kUnifiedToDevice && way <= kUnifiedBetween) {
                       copy.from = way == kUnifiedToDevice ? spool::Memory::migrating : spool::Memory::device;
                       copy.to = way == kUnifiedToHost ? spool::Memory::migrating : spool::Memory::device;
                     }
                     if (way == kPeer) copy.peer = row.has(12) ? row.small(12) : copy.device + 1;
                     copy.place = place_of(row, builder);
                     profile_.trace.copies.push_back(copy);
                   });
    const char* fills = "CUPTI_ACTIVITY_KIND_MEMSET";
    database_.rows(fills, {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes"},
                   [&](const SqliteRow& row) {
                     auto fill = activity<spool::Fill>(row, builder);
                     fill.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(7)));
                     fill.place = place_of(row, builder);
                     profile_.trace.fills.push_back(fill);
                   });
  }

  SqliteDatabase database_;
  std::string file_;
  ImportedProfile profile_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::unordered_map<std::int64_t, bool> is_readable_;  ///< mangled names: whether they can be demangled here
  std::unordered_map<std::int64_t, std::uint32_t> correlations_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> contexts_;
  std::unordered_map<std::int64_t, spool::Id> range_of_;  ///< of a call
  std::set<spool::Id> whole_graphs_;                      ///< kinds: of graphs traced as a whole
  std::vector<Moment> moments_;
};

}  // namespace

ImportedProfile read_nsys(const fs::path& file) { return Nsys(file).read(); }

bool looks_like_nsys(std::string_view beginning) { return beginning.starts_with("SQLite format 3"); }

}  // namespace roofline
