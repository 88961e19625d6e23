// Columns differ between versions: LDS_Block_Size was Group_Segment_Size, an agent is a number or "Agent 2"; rocprof
// (v1) writes KernelName, BeginNs and EndNs, and its counters are columns. A grid is work-items, not workgroups.
// counter_collection.csv has a line for each counter of a dispatch. Where files were put together, each has its header,
// and dispatches are numbered by process.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "import/clean_times.hpp"
#include "import/csv_records.hpp"
#include "import/ncu_units.hpp"
#include "import/other_tools.hpp"
#include "import/rocm_counters.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

constexpr const char* kWithTimes = "rocprof needs --timestamp on; rocprofv3 has times with --kernel-trace";

/// The columns of a table; CsvHeader::kNone: it has none of that name.
struct RocprofColumns {
  std::size_t width = 0;
  std::size_t counter = 0, value = 0, dispatch = 0, process = 0;
  std::size_t name = 0, start = 0, end = 0, agent = 0, stream = 0, queue = 0, correlation = 0;
  std::size_t shared = 0, scratch = 0, registers = 0;
  std::array<std::size_t, 3> grid = {}, block = {};
  std::vector<std::pair<std::size_t, std::string>> wide = {};  ///< counters that are columns
  bool is_v1 = false;

  explicit RocprofColumns(const std::vector<std::string>& fields) : width(fields.size()) {
    const CsvHeader header(fields);
    is_v1 = header.has("kernelname");
    counter = header.column({"counter_name"});
    value = header.column({"counter_value"});
    dispatch = header.column({"dispatch_id", "index"});
    process = header.column({"process_id", "pid"});
    name = header.column({"kernel_name", "kernelname"});
    start = header.column({"start_timestamp", "beginns"});
    end = header.column({"end_timestamp", "endns"});
    agent = header.column({"agent_id", "gpu-id"});
    stream = header.column({"stream_id"});
    queue = header.column({"queue_id", "queue-id"});
    correlation = header.column({"correlation_id"});
    shared = header.column({"lds_block_size", "group_segment_size", "lds"});
    scratch = header.column({"scratch_size", "private_segment_size", "scr"});
    registers = header.column({"vgpr_count", "arch_vgpr", "vgpr"});
    for (std::size_t i = 0; i < 3; ++i) {
      static constexpr std::string_view kGrid[] = {"grid_size_x", "grid_size_y", "grid_size_z"};
      static constexpr std::string_view kBlock[] = {"workgroup_size_x", "workgroup_size_y", "workgroup_size_z"};
      grid[i] = header.column({kGrid[i]});
      block[i] = header.column({kBlock[i]});
    }
    // Work-items in all.
    if (grid[0] == CsvHeader::kNone) grid[0] = header.column({"grid_size", "grd"});
    if (block[0] == CsvHeader::kNone) block[0] = header.column({"workgroup_size", "wgr"});
    find_wide_counters(fields);
  }

  bool has_counters() const { return counter != CsvHeader::kNone || !wide.empty(); }

 private:
  void find_wide_counters(const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string counter_name = fields[i] == "FetchSize"   ? "FETCH_SIZE"
                                       : fields[i] == "WriteSize" ? "WRITE_SIZE"
                                                                  : fields[i];
      if (RocmCounters::wants(counter_name)) wide.emplace_back(i, counter_name);
    }
  }
};

class RocprofCsv {
 public:
  explicit RocprofCsv(ByteSource& source) : source_(source), records_(source), columns_({}), builder_(profile_.trace) {}

  ImportedProfile read() {
    std::vector<std::string> fields;
    if (!records_.next(fields)) records_.fail("the file is empty");
    begin_table(fields);
    profile_.kind = ImportedKind::rocprof;
    profile_.tool = columns_.is_v1 ? "rocprof" : "rocprofv3";
    profile_.trace.times_by = profile_.tool;
    while (records_.next(fields)) {
      if (fields.size() == 1 && fields[0].empty()) continue;
      if (field_in(fields, columns_.start) == start_name_) {
        begin_table(fields);
        continue;
      }
      if (fields.size() != columns_.width) {
        records_.fail(
            fmt::format("{} fields, but the header has {}: the file is truncated", fields.size(), columns_.width));
      }
      add(fields);
    }
    if (profile_.trace.kernels.empty()) records_.fail("no kernel dispatch");
    for (const auto& [agent, index] : agents_) {
      profile_.devices.push_back({.index = index, .is_amd = true});
      builder_.device(profile_.devices.back(), source_.name());
    }
    clean_times(profile_.trace, profile_.time_defects);
    builder_.finish();
    add_notes();
    return std::move(profile_);
  }

 private:
  void begin_table(const std::vector<std::string>& fields) {
    const RocprofColumns next(fields);
    for (const auto& [column, what] : {std::pair(next.name, "Kernel_Name"), std::pair(next.start, "Start_Timestamp"),
                                       std::pair(next.end, "End_Timestamp")}) {
      if (column == CsvHeader::kNone) records_.fail(fmt::format("the header has no column \"{}\"", what), kWithTimes);
    }
    if (next.counter != CsvHeader::kNone && (next.value == CsvHeader::kNone || next.dispatch == CsvHeader::kNone)) {
      records_.fail("the header has Counter_Name, but not Counter_Value and Dispatch_Id");
    }
    if (tables_ > 0 && next.has_counters() != columns_.has_counters()) {
      records_.fail("a second header, of another kind of table: import the files separately");
    }
    columns_ = next;
    start_name_ = fields[next.start];
    ++tables_;
    pass_.reset();
  }

  void add_notes() {
    const std::string& tool = profile_.tool;
    if (columns_.has_counters()) {
      profile_.notes = counters_.put_work(profile_.trace, builder_, {}, tool + "'s counters");
      profile_.notes.push_back(tool + "'s CSV names no GPU: roofs come from --machine");
    } else {
      profile_.notes.push_back(tool +
                               "'s kernel trace names no GPU and has no counters of FLOPs or bytes: roofs come from "
                               "--machine, work is not known");
    }
    if (passes_ > 0) {
      profile_.notes.push_back(fmt::format(
          "{} of {} tables are passes over the same dispatches with other counters: these are joined, and times are "
          "those of the first table",
          passes_ + 1, tables_));
    }
    if (tables_ - passes_ < 2 && processes_.size() < 2) return;
    // Runs of one program look like ranks of a job.
    profile_.notes.push_back(
        fmt::format("the file has {} tables of {} processes: all their launches count, also those "
                    "of repeated runs",
                    tables_ - passes_, processes_.size()));
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

  /// Processes are numbered by first appearance, in each table anew: their queues are their own.
  std::uint32_t process(std::string_view id) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    const auto [found, is_new] =
        processes_.try_emplace({tables_, std::string(id.substr(0, 40))}, static_cast<std::uint32_t>(processes_.size()));
    if (is_new && processes_.size() > kMost) records_.fail("more than a million processes");
    return found->second;
  }

  void add(const std::vector<std::string>& fields) {
    spool::Kernel kernel = {};
    kernel.start = time(fields, columns_.start);
    kernel.end = time(fields, columns_.end);
    if (kernel.end < kernel.start) kernel.start = kernel.end = 0;  // no times
    ImportedKernel launch;
    launch.name = without_descriptor(field_in(fields, columns_.name));
    for (std::size_t i = 0; i < 3; ++i) {
      launch.block[i] = small(fields, columns_.block[i]);
      const std::uint32_t items = small(fields, columns_.grid[i]), each = std::max(1U, launch.block[i]);
      launch.grid[i] = items / each + (items % each != 0 ? 1 : 0);
    }
    // Tables of counters have the number of all work-items.
    for (std::array<std::uint32_t, 3>* extents : {&launch.grid, &launch.block}) {
      if ((*extents)[0] > 0) std::ranges::replace(*extents, 0U, 1U);
    }
    kernel.kind = builder_.kind(launch);
    if (is_of_pass(kernel.kind, fields)) return;
    kernel.context = process(field_in(fields, columns_.process));
    if (columns_.has_counters()) {
      if (!add_counters(kernel, fields)) return;
    } else if (kernel.kind > reasoned_) {
      builder_.without_work(reasoned_ = kernel.kind, "its kernel trace has no counters of FLOPs or bytes");
    }
    kernel.device = device(field_in(fields, columns_.agent));
    // Without a trace of HIP all kernels have stream 0.
    const std::uint32_t stream = small(fields, columns_.stream);
    kernel.stream = stream != 0 ? stream : small(fields, columns_.queue);
    kernel.correlation = columns_.correlation == CsvHeader::kNone ? number_of_dispatch(kernel.context, fields)
                                                                  : small(fields, columns_.correlation);
    kernel.static_shared = small(fields, columns_.shared);
    kernel.local_bytes = small(fields, columns_.scratch);
    kernel.registers = small(fields, columns_.registers);
    profile_.trace.kernels.push_back(kernel);
  }

  /// Numbers the dispatches of rocprof (v1), from 1: it may write the same times for two of them, which are no copies
  /// of one record. 0 without a column of them.
  std::uint32_t number_of_dispatch(std::uint32_t process, const std::vector<std::string>& fields) {
    const auto dispatch = parsed_number<std::uint64_t>(field_in(fields, columns_.dispatch));
    if (!dispatch) return 0;
    const auto next = static_cast<std::uint32_t>(numbers_.size() + 1);
    return numbers_.try_emplace({process, *dispatch}, next).first->second;
  }

  std::uint32_t number_of(std::string_view counter) {
    constexpr std::size_t kMost = 1 << 16;
    const auto next = static_cast<std::uint32_t>(counters_of_file_.size());
    const auto [found, is_new] = counters_of_file_.try_emplace(std::string(counter.substr(0, 100)), next);
    if (is_new && next >= kMost) records_.fail("more than 65536 counters");
    return found->second;
  }

  /// A program runs once for each group of counters: a later table whose first counter is new counts the dispatches of
  /// the first one, which are no further launches. Takes the counter.
  bool is_of_pass(spool::Id kind, const std::vector<std::string>& fields) {
    if (tables_ < 2 || columns_.counter == CsvHeader::kNone) return false;
    const std::string_view counter = field_in(fields, columns_.counter);
    const auto dispatch = parsed_number<std::uint64_t>(field_in(fields, columns_.dispatch));
    const auto first = dispatch ? dispatches_.find({0, *dispatch}) : dispatches_.end();
    const bool same = first != dispatches_.end() && first->second == kind;
    if (!pass_) {
      pass_ = same && !counted_.contains({*dispatch, number_of(counter)});
      passes_ += *pass_ ? 1 : 0;
    }
    if (!*pass_ || !same) return false;
    if (counted_.emplace(*dispatch, number_of(counter)).second)
      add_counter(kind, counter, field_in(fields, columns_.value));
    return true;
  }

  /// Whether it is the first line of its dispatch, which counts as a launch.
  bool add_counters(const spool::Kernel& kernel, const std::vector<std::string>& fields) {
    for (const auto& [column, counter] : columns_.wide) add_counter(kernel.kind, counter, field_in(fields, column));
    if (columns_.counter == CsvHeader::kNone) return true;
    const auto dispatch = parsed_number<std::uint64_t>(field_in(fields, columns_.dispatch));
    if (!dispatch) records_.fail("Dispatch_Id is not a number");
    const std::string_view counter = field_in(fields, columns_.counter);
    add_counter(kernel.kind, counter, field_in(fields, columns_.value));
    if (kernel.context == 0) counted_.emplace(*dispatch, number_of(counter));
    return dispatches_.try_emplace({kernel.context, *dispatch}, kernel.kind).second;
  }

  void add_counter(spool::Id kind, std::string_view counter, std::string_view text) {
    if (is_absent(text)) return;
    const auto value = parsed_number<double>(text);
    if (!value) records_.fail(fmt::format("the value of {} is not a number", counter.substr(0, 60)));
    if (RocmCounters::wants(counter)) counters_.add(kind, counter, *value);
  }

  ByteSource& source_;
  CsvRecords records_;
  RocprofColumns columns_;
  std::string start_name_;  ///< of the column of start times
  ImportedProfile profile_;
  TraceBuilder builder_;
  RocmCounters counters_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, spool::Id> dispatches_;   ///< signatures, by process and number
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> numbers_;  ///< of dispatches of rocprof (v1)
  std::set<std::pair<std::uint64_t, std::uint32_t>> counted_;  ///< dispatches and counters of the first process
  std::map<std::string, std::uint32_t, std::less<>> counters_of_file_;  ///< their numbers
  std::optional<bool> pass_;                                            ///< of the table, once known
  std::map<std::pair<std::size_t, std::string>, std::uint32_t> processes_;
  std::map<std::string, std::uint32_t> agents_;
  spool::Id reasoned_ = 0;  ///< last signature that has its reason: new ones have higher ids
  std::size_t tables_ = 0, passes_ = 0;
};

}  // namespace

std::string_view without_descriptor(std::string_view kernel) {
  for (const std::string_view descriptor : {" [clone .kd]", " (.kd)", ".kd"}) {
    if (kernel.ends_with(descriptor)) kernel.remove_suffix(descriptor.size());
  }
  return kernel;
}

ImportedProfile read_rocprof(ByteSource& source) { return RocprofCsv(source).read(); }

bool looks_like_rocprof(std::string_view beginning) {
  const std::string_view header = beginning.substr(0, beginning.find('\n'));
  const auto has = [header](std::string_view column) { return header.find(column) != std::string_view::npos; };
  const bool v3 = has("Kernel_Name") && has("Start_Timestamp") && has("End_Timestamp");
  // Of counter_collection.csv before ROCm 6.3, which has no times: read to be refused with a reason.
  const bool untimed = has("Kernel_Name") && has("Counter_Name") && has("Counter_Value");
  return v3 || untimed || (has("KernelName") && has("queue-id") && has("wgr"));
}

}  // namespace roofline
