// Columns differ between versions: LDS_Block_Size was Group_Segment_Size, an agent is a number or "Agent 2". A grid is
// work-items, not workgroups. counter_collection.csv has a line for each counter of a dispatch.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "import/clean_times.hpp"
#include "import/csv_records.hpp"
#include "import/other_tools.hpp"
#include "import/rocm_counters.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

class RocprofCsv {
 public:
  explicit RocprofCsv(ByteSource& source) : source_(source), records_(source), builder_(profile_.trace) {}

  ImportedProfile read() {
    profile_.kind = ImportedKind::rocprof;
    profile_.tool = "rocprofv3";
    profile_.trace.times_by = profile_.tool;
    std::vector<std::string> fields;
    if (!records_.next(fields)) records_.fail("the file is empty");
    find_columns(CsvHeader(fields));
    while (records_.next(fields)) {
      if (fields.size() == 1 && fields[0].empty()) continue;
      if (fields.size() != width_) {
        records_.fail(fmt::format("{} fields, but the header has {}: the file is truncated", fields.size(), width_));
      }
      add(fields);
    }
    if (profile_.trace.kernels.empty()) records_.fail("no kernel dispatch");
    for (const auto& [agent, index] : agents_) {
      profile_.devices.push_back({.index = index});
      builder_.device(profile_.devices.back(), source_.name());
    }
    clean_times(profile_.trace, profile_.time_defects);
    builder_.finish();
    if (has_counters()) {
      profile_.notes = counters_.put_work(profile_.trace, builder_, {}, "rocprofv3's counters");
      profile_.notes.emplace_back("rocprofv3's CSV names no GPU: roofs come from --machine");
    } else {
      profile_.notes.emplace_back(
          "rocprofv3's kernel trace names no GPU and has no counters: roofs come from --machine, work is not known");
    }
    return std::move(profile_);
  }

 private:
  bool has_counters() const { return counter_ != CsvHeader::kNone; }

  void find_columns(const CsvHeader& header) {
    width_ = header.size();
    counter_ = header.column({"counter_name"});
    value_ = header.column({"counter_value"});
    dispatch_ = header.column({"dispatch_id"});
    if (has_counters() && (value_ == CsvHeader::kNone || dispatch_ == CsvHeader::kNone)) {
      records_.fail("the header has Counter_Name, but not Counter_Value and Dispatch_Id");
    }
    name_ = header.column({"kernel_name"});
    start_ = header.column({"start_timestamp"});
    end_ = header.column({"end_timestamp"});
    agent_ = header.column({"agent_id"});
    queue_ = header.column({"stream_id", "queue_id"});
    correlation_ = header.column({"correlation_id"});
    shared_ = header.column({"lds_block_size", "group_segment_size"});
    scratch_ = header.column({"scratch_size", "private_segment_size"});
    registers_ = header.column({"vgpr_count"});
    for (std::size_t i = 0; i < 3; ++i) {
      static constexpr std::string_view kGrid[] = {"grid_size_x", "grid_size_y", "grid_size_z"};
      static constexpr std::string_view kBlock[] = {"workgroup_size_x", "workgroup_size_y", "workgroup_size_z"};
      grid_[i] = header.column({kGrid[i]});
      block_[i] = header.column({kBlock[i]});
    }
    // Work-items in all.
    if (grid_[0] == CsvHeader::kNone) grid_[0] = header.column({"grid_size"});
    if (block_[0] == CsvHeader::kNone) block_[0] = header.column({"workgroup_size"});
    for (const auto& [column, what] :
         {std::pair(name_, "Kernel_Name"), std::pair(start_, "Start_Timestamp"), std::pair(end_, "End_Timestamp")}) {
      if (column == CsvHeader::kNone) records_.fail(fmt::format("the header has no column \"{}\"", what));
    }
  }

  std::uint32_t small(const std::vector<std::string>& fields, std::size_t column) const {
    return parsed_number<std::uint32_t>(field_in(fields, column)).value_or(0);
  }

  std::uint64_t time(const std::vector<std::string>& fields, std::size_t column) const {
    constexpr std::uint64_t kLatest = std::uint64_t{1} << 62U;
    const std::optional<std::uint64_t> value = parsed_number<std::uint64_t>(field_in(fields, column));
    if (!value || *value > kLatest) {
      records_.fail(fmt::format("\"{}\" is not a time", field_in(fields, column).substr(0, 40)));
    }
    return *value;
  }

  /// GPUs are numbered by first appearance: agents are CPUs, too.
  std::uint32_t device(std::string_view agent) {
    constexpr std::size_t kMost = 1024;
    const auto [found, is_new] =
        agents_.try_emplace(std::string(agent.substr(0, 40)), static_cast<std::uint32_t>(agents_.size()));
    if (is_new && agents_.size() > kMost) records_.fail("more than 1024 agents");
    return found->second;
  }

  void add(const std::vector<std::string>& fields) {
    spool::Kernel kernel = {};
    kernel.start = time(fields, start_);
    kernel.end = time(fields, end_);
    if (kernel.end < kernel.start) kernel.start = kernel.end = 0;  // no times
    ImportedKernel launch;
    launch.name = field_in(fields, name_);
    for (std::size_t i = 0; i < 3; ++i) {
      launch.block[i] = small(fields, block_[i]);
      const std::uint32_t items = small(fields, grid_[i]), each = std::max(1U, launch.block[i]);
      launch.grid[i] = items / each + (items % each != 0 ? 1 : 0);
    }
    kernel.kind = builder_.kind(launch);
    if (has_counters()) {
      if (!add_counter(kernel.kind, fields)) return;
    } else if (kernel.kind > reasoned_) {
      builder_.without_work(reasoned_ = kernel.kind, "rocprofv3's kernel trace has no counters");
    }
    kernel.device = device(field_in(fields, agent_));
    kernel.stream = small(fields, queue_);
    kernel.correlation = small(fields, correlation_);
    kernel.static_shared = small(fields, shared_);
    kernel.local_bytes = small(fields, scratch_);
    kernel.registers = small(fields, registers_);
    profile_.trace.kernels.push_back(kernel);
  }

  /// Whether it is the first counter of its dispatch, which counts as a launch.
  bool add_counter(spool::Id kind, const std::vector<std::string>& fields) {
    const auto dispatch = parsed_number<std::uint64_t>(field_in(fields, dispatch_));
    const auto value = parsed_number<double>(field_in(fields, value_));
    if (!dispatch || !value) records_.fail("Dispatch_Id or Counter_Value is not a number");
    const std::string_view counter = field_in(fields, counter_);
    if (RocmCounters::wants(counter)) counters_.add(kind, counter, *value);
    return dispatches_.insert(*dispatch).second;
  }

  ByteSource& source_;
  CsvRecords records_;
  ImportedProfile profile_;
  TraceBuilder builder_;
  RocmCounters counters_;
  std::unordered_set<std::uint64_t> dispatches_;  ///< with counters
  std::map<std::string, std::uint32_t> agents_;
  spool::Id reasoned_ = 0;  ///< last signature that has its reason: new ones have higher ids
  std::size_t width_ = 0;
  std::size_t counter_ = 0, value_ = 0, dispatch_ = 0;
  std::size_t name_ = 0, start_ = 0, end_ = 0, agent_ = 0, queue_ = 0, correlation_ = 0;
  std::size_t shared_ = 0, scratch_ = 0, registers_ = 0;
  std::array<std::size_t, 3> grid_ = {}, block_ = {};
};

}  // namespace

ImportedProfile read_rocprof(ByteSource& source) { return RocprofCsv(source).read(); }

bool looks_like_rocprof(std::string_view beginning) {
  const std::string_view header = beginning.substr(0, beginning.find('\n'));
  const auto has = [header](std::string_view column) { return header.find(column) != std::string_view::npos; };
  return has("Kernel_Name") && has("Start_Timestamp") && has("End_Timestamp");
}

}  // namespace roofline
