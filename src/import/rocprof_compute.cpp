// A folder of rocprof-compute (Omniperf before 2024) has pmc_perf.csv, a row per dispatch and a column per counter;
// sysinfo.csv, the GPU; and roofline.csv, the rates that its own benchmark reached, in GB/s and GFLOP/s.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/csv_records.hpp"
#include "import/ncu_units.hpp"
#include "import/other_tools.hpp"
#include "import/rocm_counters.hpp"
#include "model/error.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCounterFile = "pmc_perf.csv";
constexpr const char* kSystemFile = "sysinfo.csv";
constexpr const char* kRoofFile = "roofline.csv";

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The header and the first record of a small table.
struct FirstRow {
  CsvHeader header;
  std::vector<std::string> fields;

  std::string_view text(std::initializer_list<std::string_view> names) const {
    return field_in(fields, header.column(names));
  }
  double number(std::initializer_list<std::string_view> names) const {
    const double value = parsed_number<double>(text(names)).value_or(0);
    return std::isfinite(value) && value > 0 ? value : 0;
  }
};

FirstRow first_row(const fs::path& file) {
  ByteSource source(file);
  CsvRecords records(source);
  std::vector<std::string> fields;
  FirstRow row;
  if (!records.next(fields)) records.fail("the file is empty");
  row.header = CsvHeader(fields);
  if (!records.next(row.fields)) records.fail("the file ends after its header");
  if (row.fields.size() != row.header.size()) {
    records.fail(fmt::format("{} fields, but the header has {}", row.fields.size(), row.header.size()));
  }
  return row;
}

DeviceFacts gpu_of_system(const fs::path& folder) {
  DeviceFacts device;
  if (!is_file(folder / kSystemFile)) return device;
  const FirstRow row = first_row(folder / kSystemFile);
  const std::string_view model = row.text({"gpu_model", "gpu_soc", "name"});
  if (!model.empty()) device.name = fmt::format("AMD {}", model);
  device.chip = row.text({"gpu_arch", "arch"});
  constexpr double kMega = 1e6, kKilobyte = 1024, kMost = 1 << 20;
  device.sms = static_cast<std::uint32_t>(std::min(row.number({"cu_per_gpu", "numcu"}), kMost));
  device.core_hz = row.number({"max_sclk", "sclk"}) * kMega;
  device.l2_bytes = row.number({"gpu_l2", "l2"}) * kKilobyte;
  return device;
}

struct RoofColumn {
  std::string_view column;  ///< lower case, as CsvHeader has it
  std::string_view name;    ///< of the ceiling
  std::optional<Level> level;
  Pattern pattern = Pattern::read;
  std::optional<Pipe> pipe = {};
};

/// The benchmark of HBM copies, those of the caches read.
constexpr RoofColumn kRoofColumns[] = {
    {"hbmbw", "hbm.copy", Level::hbm, Pattern::copy},
    {"l2bw", "l2.read", Level::l2},
    {"l1bw", "l1.read", Level::l1},
    {"ldsbw", "shared.read", Level::shared},
    {"fp64flops", "fp64", {}, {}, Pipe::fp64},
    {"fp32flops", "fp32", {}, {}, Pipe::fp32},
    {"fp16flops", "fp16", {}, {}, Pipe::fp16},
    {"bf16flops", "bf16", {}, {}, Pipe::bf16},
    {"mfmaf64flops", "tensor.fp64", {}, {}, Pipe::tensor_fp64},
    {"mfmaf32flops", "tensor.tf32", {}, {}, Pipe::tensor_tf32},
    {"mfmaf16flops", "tensor.fp16", {}, {}, Pipe::tensor_fp16},
    {"mfmabf16flops", "tensor.bf16", {}, {}, Pipe::tensor_bf16},
    {"mfmaf8flops", "tensor.fp8", {}, {}, Pipe::tensor_fp8},
    {"mfmai8ops", "tensor.int8", {}, {}, Pipe::tensor_int8},
};

Ceiling roof_of(const RoofColumn& column, const FirstRow& row) {
  constexpr double kGiga = 1e9;
  const std::string low = std::string(column.column) + "low", high = std::string(column.column) + "high";
  Ceiling ceiling;
  ceiling.name = column.name;
  ceiling.kind = column.pipe ? CeilingKind::compute : CeilingKind::bandwidth;
  ceiling.level = column.level;
  if (column.level) ceiling.pattern = column.pattern;
  ceiling.pipe = column.pipe;
  ceiling.value = row.number({column.column}) * kGiga;
  ceiling.ci95 = Interval{row.number({low}) * kGiga, row.number({high}) * kGiga}.or_exact(ceiling.value);
  ceiling.origin = "rocprof-compute";
  ceiling.variant = fmt::format("{}: {} of its first device", kRoofFile, column.column);
  ceiling.stop = "imported";
  return ceiling;
}

Machine roofs_of_file(const fs::path& file, const DeviceFacts& device) {
  const FirstRow row = first_row(file);
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.name = device.name.empty() ? std::string(kUnnamedAmdGpu) : device.name;
  machine.device.identity = "imported";
  machine.device.units = device.sms;
  machine.device.isa = device.chip;
  if (device.core_hz > 0) machine.device.max_core_hz = device.core_hz;
  if (device.l2_bytes > 0) machine.device.caches.push_back({.level = Level::l2, .bytes = device.l2_bytes});
  for (const RoofColumn& column : kRoofColumns) {
    Ceiling ceiling = roof_of(column, row);
    if (ceiling.value > 0) machine.ceilings.push_back(std::move(ceiling));
  }
  if (machine.ceilings.empty()) {
    throw UsageError(fmt::format("{}: line 2: no rate of a memory or of arithmetic above zero", file.string()),
                     "rocprof-compute profile --roof-only measures them");
  }
  return machine;
}

/// A time in ns, whose digits a double has not room for.
struct ExactTime {
  std::uint64_t whole = 0;
  double fraction = 0;
};

/// Times are whole, or have decimals where rocprof-compute took the mean of several runs. Nothing for what a
/// spreadsheet writes ("8.1097E+14"), of which the last digits are lost.
std::optional<ExactTime> exact_time(std::string_view text) {
  constexpr std::uint64_t kLatest = std::uint64_t{1} << 62U;
  const std::size_t dot = std::min(text.find('.'), text.size());
  const auto whole = parsed_number<std::uint64_t>(text.substr(0, dot));
  if (!whole || *whole >= kLatest || text.find_first_of("eE") != std::string_view::npos) return std::nullopt;
  if (dot == text.size()) return ExactTime{*whole, 0};
  const auto fraction = parsed_number<double>("0" + std::string(text.substr(dot)));
  return fraction ? std::optional(ExactTime{*whole, *fraction}) : std::nullopt;
}

class CounterTable {
 public:
  explicit CounterTable(const fs::path& file)
      : folder_(file.parent_path()), source_(file), records_(source_), builder_(profile_.trace) {}

  ImportedProfile read() {
    profile_.kind = ImportedKind::rocprof_compute;
    profile_.tool = "rocprof-compute";
    profile_.has_starts = false;
    profile_.trace.times_by = profile_.tool;
    profile_.trace.times = TimeSource::replayed;
    std::vector<std::string> fields;
    if (!records_.next(fields)) records_.fail("the file is empty");
    find_columns(fields);
    while (records_.next(fields)) {
      if (fields.size() == 1 && fields[0].empty()) continue;
      if (fields.size() != header_.size()) {
        records_.fail(
            fmt::format("{} fields, but the header has {}: the file is truncated", fields.size(), header_.size()));
      }
      add(fields);
    }
    return finish();
  }

 private:
  void find_columns(const std::vector<std::string>& fields) {
    header_ = CsvHeader(fields);
    name_ = header_.column({"kernel_name", "kernelname"});
    start_ = header_.column({"start_timestamp", "beginns"});
    end_ = header_.column({"end_timestamp", "endns"});
    grid_ = header_.column({"grid_size", "grd"});
    block_ = header_.column({"workgroup_size", "wgr"});
    gpu_ = header_.column({"gpu_id", "gpu-id"});
    for (const auto& [column, what] :
         {std::pair(name_, "Kernel_Name"), std::pair(start_, "Start_Timestamp"), std::pair(end_, "End_Timestamp")}) {
      if (column == CsvHeader::kNone) records_.fail(fmt::format("the header has no column \"{}\"", what));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (RocmCounters::wants(fields[i])) counters_in_.emplace_back(i, fields[i]);
    }
  }

  /// Some versions write whole numbers as "304.0".
  double number(const std::vector<std::string>& fields, std::size_t column) const {
    const std::string_view text = field_in(fields, column);
    const auto value = parsed_number<double>(text);
    return value && std::isfinite(*value) && *value >= 0 ? *value : -1;
  }

  std::uint32_t small(const std::vector<std::string>& fields, std::size_t column) const {
    constexpr double kMost = 4294967295.0;
    return static_cast<std::uint32_t>(std::clamp(number(fields, column), 0.0, kMost));
  }

  /// Of the dispatch alone, in one of its runs or as the mean of them, in ns. 0: not in the file.
  double duration(const std::vector<std::string>& fields) {
    for (const std::size_t column : {start_, end_}) {
      const std::string_view text = field_in(fields, column);
      if (is_absent(text) || parsed_number<double>(text)) continue;
      records_.fail(fmt::format("\"{}\" is not a time", text.substr(0, 40)));
    }
    const auto start = exact_time(field_in(fields, start_)), end = exact_time(field_in(fields, end_));
    inexact_ += !start || !end ? 1 : 0;
    if (!start || !end || end->whole < start->whole) return 0;
    return static_cast<double>(end->whole - start->whole) + end->fraction - start->fraction;
  }

  /// GPUs are numbered by first appearance: ids count CPUs, too.
  std::uint32_t device(std::string_view id) {
    constexpr std::size_t kMost = 1024;
    const auto [found, is_new] = gpus_.try_emplace(std::string(id), static_cast<std::uint32_t>(gpus_.size()));
    if (is_new && gpus_.size() > kMost) records_.fail("more than 1024 GPUs");
    return found->second;
  }

  void add(const std::vector<std::string>& fields) {
    constexpr double kMostTime = 86'400e9, kLatest = 1e18;
    ImportedKernel launch;
    launch.name = without_descriptor(field_in(fields, name_));
    launch.block = {small(fields, block_), 1, 1};
    const std::uint32_t items = small(fields, grid_), each = std::max(1U, launch.block[0]);
    launch.grid = {items / each + (items % each != 0 ? 1 : 0), 1, 1};
    spool::Kernel kernel = {};
    kernel.kind = builder_.kind(launch);
    kernel.device = device(field_in(fields, gpu_));
    const double time = duration(fields);
    if (time > 0 && time < kMostTime && clock_ < kLatest) {
      // Each ends at the rounded sum of the times, so that their sum is exact.
      kernel.start = static_cast<std::uint64_t>(std::llround(clock_));
      clock_ += time;
      kernel.end = static_cast<std::uint64_t>(std::llround(clock_));
    } else {
      profile_.time_defects.without_time.add(std::string(launch.name));
    }
    profile_.trace.kernels.push_back(kernel);
    for (const auto& [column, counter] : counters_in_) {
      const double value = number(fields, column);
      if (value >= 0) counters_.add(kernel.kind, counter, value);
      // A spreadsheet's "12,5": the other dispatches alone would give another mean.
      if (!parsed_number<double>(field_in(fields, column)) && !is_absent(field_in(fields, column))) {
        records_.fail(fmt::format("the value of {} is not a number", counter));
      }
    }
  }

  ImportedProfile finish() {
    ProcessTrace& trace = profile_.trace;
    if (trace.kernels.empty()) records_.fail("no kernel dispatch");
    const DeviceFacts gpu = gpu_of_system(folder_);
    for (const auto& [id, index] : gpus_) {
      profile_.devices.push_back(gpu);
      profile_.devices.back().index = index;
      builder_.device(profile_.devices.back(), source_.name());
    }
    profile_.time_defects.kernels = static_cast<std::int64_t>(trace.kernels.size());
    trace.tally.without_time = static_cast<std::uint64_t>(profile_.time_defects.without_time.count);
    builder_.finish();
    profile_.notes = counters_.put_work(trace, builder_, gpu.chip, "rocprof-compute's counters");
    if (inexact_ > 0) {
      profile_.notes.push_back(
          fmt::format("{} dispatches have times of few digits (a spreadsheet rounds them): profile again", inexact_));
    }
    if (is_file(folder_ / kRoofFile)) {
      profile_.roofs = roofs_of_file(folder_ / kRoofFile, gpu);
      profile_.notes.push_back(fmt::format("the roofs are those that rocprof-compute measured ({})", kRoofFile));
    }
    return std::move(profile_);
  }

  fs::path folder_;
  ByteSource source_;
  CsvRecords records_;
  ImportedProfile profile_;
  TraceBuilder builder_;
  RocmCounters counters_;
  CsvHeader header_;
  std::vector<std::pair<std::size_t, std::string>> counters_in_;  ///< by column
  std::map<std::string, std::uint32_t> gpus_;
  double clock_ = 1;          ///< ns
  std::int64_t inexact_ = 0;  ///< dispatches without exact times
  std::size_t name_ = 0, start_ = 0, end_ = 0, grid_ = 0, block_ = 0, gpu_ = 0;
};

std::string_view header_line(std::string_view beginning) { return beginning.substr(0, beginning.find('\n')); }

}  // namespace

ImportedProfile read_rocprof_compute(const fs::path& file) { return CounterTable(file).read(); }

ImportedProfile read_rocprof_roofs(const fs::path& file) {
  ImportedProfile profile;
  profile.kind = ImportedKind::rocprof_compute;
  profile.tool = "rocprof-compute";
  const DeviceFacts gpu = gpu_of_system(file.parent_path());
  profile.roofs = roofs_of_file(file, gpu);
  profile.devices.push_back(gpu);
  return profile;
}

bool looks_like_rocprof_compute(std::string_view beginning) {
  const std::string_view header = header_line(beginning);
  const auto has = [header](std::string_view column) { return header.find(column) != std::string_view::npos; };
  const bool has_kernels = has("Kernel_Name") || has("KernelName");
  // The header of all counters is longer than the beginning.
  const bool has_counters = has("Dispatch_ID") || has("SQ_") || has("TCC_") || has("TCP_");
  return has_kernels && has_counters && !has("Counter_Name") && !has("Agent_Id");
}

bool looks_like_rocprof_roofs(std::string_view beginning) {
  const std::string_view header = header_line(beginning);
  return header.find("HBMBw") != std::string_view::npos && header.find("L2Bw") != std::string_view::npos;
}

std::optional<fs::path> rocprof_compute_table(const fs::path& given) {
  std::error_code ignored;
  if (fs::is_directory(given, ignored)) {
    if (is_file(given / kCounterFile)) return given / kCounterFile;
    return is_file(given / kRoofFile) ? std::optional(given / kRoofFile) : std::nullopt;
  }
  const std::string name = given.filename().string();
  const bool belongs = name == kSystemFile || name == kRoofFile;
  const fs::path table = given.parent_path() / kCounterFile;
  return belongs && is_file(table) ? std::optional(table) : std::nullopt;
}

}  // namespace roofline
