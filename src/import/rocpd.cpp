// A rocpd database has one set of tables per recorded process: "rocpd_kernel_dispatch_" and a GUID. Databases that were
// merged have several; ids are those of a set. A node's GPUs are in the set of each process.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "import/other_tools.hpp"
#include "import/rocm_counters.hpp"
#include "import/sqlite_database.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDispatches = "rocpd_kernel_dispatch";
constexpr const char* kHint = "rocprofv3 --kernel-trace writes such a file";

/// The tables of one process.
struct RocpdSet {
  struct Agent {
    bool gpu = false;
    std::uint32_t index = 0;  ///< among the GPUs of the file
  };
  std::string suffix;
  std::uint32_t number = 0;  ///< from 0
  std::unordered_map<std::int64_t, std::string> texts, kernels, counters;
  std::unordered_map<std::int64_t, std::uint32_t> registers;  ///< by kernel
  std::unordered_map<std::int64_t, Agent> agents;
  std::unordered_map<std::int64_t, spool::Id> counted;  ///< signatures of dispatches, by their event

  std::string table(std::string_view name) const { return std::string(name) + suffix; }
};

class Rocpd {
 public:
  explicit Rocpd(const fs::path& file) : database_(file, kHint), file_(file.string()), builder_(profile_.trace) {}

  ImportedProfile read() {
    profile_.kind = ImportedKind::rocprof;
    profile_.tool = "rocprofv3";
    profile_.trace.times_by = profile_.tool;
    constexpr std::size_t kMost = 4096;
    const std::vector<std::string> suffixes = database_.suffixes_of(kDispatches);
    if (suffixes.size() > kMost) throw UsageError(fmt::format("{}: more than {} processes", file_, kMost));
    for (const std::string& suffix : suffixes) {
      RocpdSet set;
      set.suffix = suffix;
      set.number = sets_++;
      read_set(set);
    }
    return finish();
  }

 private:
  void read_set(RocpdSet& set) {
    read_names(set);
    read_agents(set);
    read_kernels(set);
    read_copies(set);
    read_counters(set);
  }

  void read_names(RocpdSet& set) {
    database_.rows(set.table("rocpd_string"), {"id", "string"},
                   [&](const SqliteRow& row) { set.texts.emplace(row.integer(0), row.text(1)); });
    database_.rows(set.table("rocpd_info_pmc"), {"id", "name"},
                   [&](const SqliteRow& row) { set.counters.emplace(row.integer(0), row.text(1)); });
    database_.rows(set.table("rocpd_info_kernel_symbol"), {"id", "kernel_name", "display_name", "arch_vgpr_count"},
                   [&](const SqliteRow& row) {
                     constexpr std::string_view kDescriptor = ".kd";
                     std::string name = row.text(1);
                     if (name.ends_with(kDescriptor)) name.resize(name.size() - kDescriptor.size());
                     if (name.empty()) name = row.text(2);
                     set.kernels.emplace(row.integer(0), std::move(name));
                     set.registers.emplace(row.integer(0), row.small(3));
                   });
  }

  void read_agents(RocpdSet& set) {
    database_.rows(set.table("rocpd_info_agent"),
                   {"id", "nid", "type", "absolute_index", "name", "product_name", "extdata"},
                   [&](const SqliteRow& row) {
                     const bool gpu = row.text(2) == "GPU";
                     const std::uint32_t index = gpu ? device(row) : 0;
                     set.agents.emplace(row.integer(0), RocpdSet::Agent{gpu, index});
                   });
  }

  /// A GPU of a node has one number, whichever processes used it.
  std::uint32_t device(const SqliteRow& row) {
    constexpr std::size_t kMost = 1024;
    const auto [found, is_new] =
        gpus_.try_emplace({row.integer(1), row.integer(3)}, static_cast<std::uint32_t>(profile_.devices.size()));
    if (!is_new) return found->second;
    if (gpus_.size() > kMost) throw UsageError(fmt::format("{}: more than {} GPUs", file_, kMost));
    DeviceFacts device;
    device.index = found->second;
    device.chip = row.text(4);
    device.name = row.text(5);
    if (device.name.empty()) device.name = device.chip;
    const auto details = nlohmann::json::parse(row.text(6), nullptr, false);
    const auto detail = [&](const char* key) {
      const auto at = details.is_object() ? details.find(key) : details.end();
      return details.is_object() && at != details.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
    };
    constexpr double kMega = 1e6;
    constexpr std::uint64_t kMostUnits = 1 << 20;
    device.sms = static_cast<std::uint32_t>(std::min(detail("cu_count"), kMostUnits));
    device.core_hz = static_cast<double>(std::min(detail("max_engine_clk_fcompute"), kMostUnits)) * kMega;
    profile_.devices.push_back(device);
    return device.index;
  }

  static std::uint32_t gpu(const RocpdSet& set, std::int64_t agent) {
    const auto found = set.agents.find(agent);
    return found == set.agents.end() ? 0 : found->second.index;
  }

  /// Of the columns 0 and 1; {0, 0} is no time.
  static Span time_of(const SqliteRow& row) {
    return times_from_ns(row.integer(0, -1), row.integer(1, -1)).value_or(Span{});
  }

  void read_kernels(RocpdSet& set) {
    const std::string table = set.table(kDispatches);
    database_.rows(table,
                   {"start", "end", "agent_id", "kernel_id", "queue_id", "stream_id", "workgroup_size_x",
                    "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",
                    "group_segment_size", "private_segment_size", "event_id"},
                   [&](const SqliteRow& row) {
                     const auto name = set.kernels.find(row.integer(3));
                     if (name == set.kernels.end()) database_.fail_row(table, "no kernel symbol has its kernel_id");
                     ImportedKernel launch;
                     launch.name = name->second;
                     for (std::size_t i = 0; i < 3; ++i) {
                       constexpr std::size_t kBlock = 6, kGrid = 9;
                       launch.block[i] = row.small(kBlock + i);
                       const std::uint32_t items = row.small(kGrid + i), each = std::max(1U, launch.block[i]);
                       launch.grid[i] = items / each + (items % each != 0 ? 1 : 0);
                     }
                     spool::Kernel kernel = {};
                     const Span when = time_of(row);
                     kernel.start = when.start;
                     kernel.end = when.end;
                     kernel.kind = builder_.kind(launch);
                     kernel.device = gpu(set, row.integer(2));
                     kernel.context = set.number;
                     kernel.stream = stream_of(row, 5, 4);
                     kernel.static_shared = row.small(12);
                     kernel.local_bytes = row.small(13);
                     kernel.registers = set.registers[row.integer(3)];
                     profile_.trace.kernels.push_back(kernel);
                     if (row.has(14)) set.counted[row.integer(14)] = kernel.kind;
                   });
  }

  /// The stream, else the queue: without a trace of HIP all kernels have stream 0.
  static std::uint32_t stream_of(const SqliteRow& row, std::size_t stream, std::size_t queue) {
    return row.small(stream) != 0 ? row.small(stream) : row.small(queue);
  }

  void read_copies(const RocpdSet& set) {
    database_.rows(set.table("rocpd_memory_copy"),
                   {"start", "end", "size", "src_agent_id", "dst_agent_id", "queue_id", "stream_id"},
                   [&](const SqliteRow& row) {
                     const auto end = [&](std::size_t column) {
                       const auto found = set.agents.find(row.integer(column, -1));
                       return found == set.agents.end() ? RocpdSet::Agent{} : found->second;
                     };
                     const RocpdSet::Agent from = end(3), to = end(4);
                     const Span when = time_of(row);
                     spool::Copy copy = {};
                     copy.start = when.start;
                     copy.end = when.end;
                     copy.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(2)));
                     copy.from = from.gpu ? spool::Memory::device : spool::Memory::pageable;
                     copy.to = to.gpu ? spool::Memory::device : spool::Memory::pageable;
                     copy.device = from.gpu ? from.index : to.index;
                     copy.peer = to.gpu ? to.index : copy.device;
                     copy.context = set.number;
                     copy.stream = stream_of(row, 6, 5);
                     profile_.trace.copies.push_back(copy);
                   });
  }

  /// Instances of a counter (XCDs, channels) are rows of one event.
  void read_counters(const RocpdSet& set) {
    const std::string table = set.table("rocpd_pmc_event");
    std::map<std::pair<std::int64_t, std::string_view>, double> sums;
    database_.rows(table, {"event_id", "pmc_id", "value"}, [&](const SqliteRow& row) {
      const auto name = set.counters.find(row.integer(1));
      if (name == set.counters.end()) database_.fail_row(table, "no counter has its pmc_id");
      // Samples of a process have events of their own.
      if (!set.counted.contains(row.integer(0)) || !RocmCounters::wants(name->second)) return;
      sums[{row.integer(0), name->second}] += row.number(2);
    });
    for (const auto& [of, value] : sums) counters_.add(set.counted.at(of.first), of.second, value);
  }

  ImportedProfile finish() {
    ProcessTrace& trace = profile_.trace;
    if (trace.kernels.empty() && trace.copies.empty()) {
      throw UsageError(fmt::format("{}: no kernel dispatch and no copy", file_),
                       "record with rocprofv3 --kernel-trace --memory-copy-trace");
    }
    forget_unused_devices();
    finish_rocprofv3(profile_, builder_, counters_, file_);
    if (sets_ > 1) profile_.notes.push_back(fmt::format("the file has {} processes", sets_));
    return std::move(profile_);
  }

  /// The file lists all GPUs of the node.
  void forget_unused_devices() {
    const ProcessTrace& trace = profile_.trace;
    std::erase_if(profile_.devices, [&](const DeviceFacts& device) {
      const auto on_it = [&](const auto& record) { return record.device == device.index; };
      return std::none_of(trace.kernels.begin(), trace.kernels.end(), on_it) &&
             std::none_of(trace.copies.begin(), trace.copies.end(), on_it);
    });
  }

  SqliteDatabase database_;
  std::string file_;
  ImportedProfile profile_;
  TraceBuilder builder_;
  RocmCounters counters_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> gpus_;  ///< by node and index in it
  std::uint32_t sets_ = 0;
};

}  // namespace

ImportedProfile read_rocpd(const fs::path& file) { return Rocpd(file).read(); }

/// The first table of the database is one of these, whose text is on one of its first pages.
bool looks_like_rocpd(std::string_view beginning) {
  return beginning.starts_with("SQLite format 3") && beginning.find("rocpd_") != std::string_view::npos;
}

}  // namespace roofline
