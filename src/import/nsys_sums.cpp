// A file may have several tables, with what nsys printed between them. Tables of kernels have the columns Instances and
// Name; those of other sums count calls, are by range, or of events that have a source (mpi_event_sum).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/csv_records.hpp"
#include "import/mean_rows.hpp"
#include "import/ncu_units.hpp"
#include "import/other_tools.hpp"
#include "model/error.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

constexpr const char* kExport = "nsys export --type sqlite REPORT.nsys-rep, and import the .sqlite";

/// Nanoseconds of a column's unit; 0 of an unknown one. Old versions name none.
double time_unit(std::string_view unit) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},       {"ns", 1},   {"nsec", 1},   {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"\xce\xbcs", 1e3},
      {"usec", 1e3}, {"ms", 1e6}, {"msec", 1e6}, {"s", 1e9},  {"sec", 1e9}};
  const auto* found = std::find_if(std::begin(kUnits), std::end(kUnits), [&](auto& of) { return of.first == unit; });
  return found == std::end(kUnits) ? 0 : found->second;
}

/// "  132    1    1".
std::array<std::uint32_t, 3> extents_of(std::string_view text) {
  std::array<std::uint32_t, 3> extents = {};
  std::size_t at = 0;
  for (std::uint32_t& extent : extents) {
    at = text.find_first_of("0123456789", at);
    if (at == std::string_view::npos) return {};
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    extent = parsed_number<std::uint32_t>(text.substr(at, end - at)).value_or(0);
    at = end;
  }
  return extents;
}

/// The columns of a table of kernel sums.
struct SumColumns {
  std::size_t share = CsvHeader::kNone, total = CsvHeader::kNone, instances = CsvHeader::kNone, name = CsvHeader::kNone;
  std::size_t category = CsvHeader::kNone, grid = CsvHeader::kNone, block = CsvHeader::kNone;
  bool has_source = false;  ///< of events of the host
  double unit = 1;          ///< ns

  SumColumns() = default;
  explicit SumColumns(const CsvHeader& header)
      : share(header.column({"time"})),
        total(header.column({"total time"})),
        instances(header.column({"instances"})),
        name(header.column({"name", "kernel name", "operation", "operations"})),
        category(header.column({"category"})),
        grid(header.column({"gridxyz", "grid"})),
        block(header.column({"blockxyz", "block"})),
        has_source(header.has("source")) {
    if (total != CsvHeader::kNone) unit = time_unit(header.unit(total));
  }

  bool of_kernels() const {
    return total != CsvHeader::kNone && instances != CsvHeader::kNone && name != CsvHeader::kNone && !has_source &&
           unit > 0;
  }
  /// Level of detail; the table with the higher one is used: kernels by grid, by name, with memory operations.
  int rank() const { return grid != CsvHeader::kNone ? 2 : category == CsvHeader::kNone ? 1 : 0; }
};

/// A row whose numbers are still text: the whole file decides what "." and "," mean.
struct SumRow {
  std::string name, total, instances;
  std::int64_t line = 0;
  double unit = 1;
  std::array<std::uint32_t, 3> grid = {}, block = {};
};

struct SumTable {
  int rank = 0;
  std::vector<SumRow> rows;
};

/// Memory operations among kernels: "[CUDA memcpy Host-to-Device]", or of a category of their own.
bool is_kernel(std::string_view name, std::string_view category) {
  if (name.empty() || name.starts_with("[CUDA mem")) return false;
  return category.empty() || category.find("KERNEL") != std::string_view::npos;
}

class SumReader {
 public:
  explicit SumReader(ByteSource& source) : source_(source), records_(source) {}

  std::vector<SumTable> tables() {
    std::vector<SumTable> tables;
    SumColumns columns;
    bool in_table = false;
    std::vector<std::string> fields;
    std::size_t width = 0;
    while (records_.next(fields)) {
      const CsvHeader header(fields);
      if (header.has("time") && header.has("total time")) {
        columns = SumColumns(header);
        in_table = columns.of_kernels();
        width = fields.size();
        if (in_table) tables.push_back({.rank = columns.rank(), .rows = {}});
        continue;
      }
      const bool is_blank = fields.size() == 1 && fields[0].empty();
      if (is_blank) in_table = false;  // ends a table; nsys may print something before the next
      if (!in_table || fields.size() == 1) continue;
      if (fields.size() != width) {
        records_.fail(fmt::format("{} fields, but the header has {}: the file is truncated", fields.size(), width));
      }
      take(columns, fields, tables.back());
    }
    std::erase_if(tables, [](const SumTable& table) { return table.rows.empty(); });
    return tables;
  }

  MeanRow mean_of(const SumRow& row) const {
    const double instances = std::floor(number(row.instances, row)), total = number(row.total, row) * row.unit;
    return {.name = row.name,
            .time_ns = instances >= 1 ? total / instances : 0,
            .launches = instances,
            .grid = row.grid,
            .block = row.block};
  }

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const { records_.fail(what, hint); }

 private:
  void take(const SumColumns& columns, const std::vector<std::string>& fields, SumTable& table) {
    const std::string_view total = field_in(fields, columns.total), instances = field_in(fields, columns.instances);
    const CellPlace place = {.line = records_.line(), .column = 0};
    // A share is at most 100, so that its sign is a decimal one; instances are whole.
    numbers_.learn(field_in(fields, columns.share), place);
    numbers_.learn(total, place, columns.unit == 1);
    numbers_.learn(instances, place, true);
    const std::string_view name = field_in(fields, columns.name);
    if (!is_kernel(name, field_in(fields, columns.category))) return;
    table.rows.push_back({.name = std::string(name),
                          .total = std::string(total),
                          .instances = std::string(instances),
                          .line = records_.line(),
                          .unit = columns.unit,
                          .grid = extents_of(field_in(fields, columns.grid)),
                          .block = extents_of(field_in(fields, columns.block))});
  }

  /// 0 for what is no number.
  double number(std::string_view text, const SumRow& row) const {
    const NcuNumbers::Reading reading = numbers_.parse(text);
    if (reading.status == NcuNumbers::Status::undecided || reading.status == NcuNumbers::Status::contradictory) {
      throw UsageError(
          fmt::format("{}: line {}: \"{}\" may have decimals or thousands", source_.name(), row.line, text), kExport);
    }
    return reading.status == NcuNumbers::Status::ok ? std::max(0.0, reading.value) : 0;
  }

  ByteSource& source_;
  CsvRecords records_;
  NcuNumbers numbers_;
};

}  // namespace

ImportedProfile read_nsys_sums(ByteSource& source) {
  SumReader reader(source);
  const std::vector<SumTable> tables = reader.tables();
  const auto most = std::max_element(tables.begin(), tables.end(), [](auto& a, auto& b) { return a.rank < b.rank; });
  if (most == tables.end()) {
    reader.fail("no CSV table of kernel sums (nsys stats --report cuda_gpu_kern_sum --format csv)",
                fmt::format("better, with every launch: {}", kExport));
  }
  MeanRows rows(source, ImportedKind::nsys_sums, "nsys stats", "nsys stats has no counters; add an ncu report");
  for (const SumRow& row : most->rows) rows.add(reader.mean_of(row));
  if (rows.empty()) reader.fail("no kernel with a time");
  rows.notes().push_back(fmt::format(
      "nsys stats has sums only: times are means, without launches, copies, idle time and the GPU's name; {}",
      kExport));
  if (tables.size() > 1) {
    rows.notes().push_back(
        fmt::format("{} more tables of kernel sums skipped: they may have the same kernels", tables.size() - 1));
  }
  ImportedProfile profile = rows.finish({});
  note_no_counters(profile.trace, "nsys");
  return profile;
}

bool looks_like_nsys_sums(std::string_view beginning) {
  const auto has = [beginning](std::string_view text) { return beginning.find(text) != std::string_view::npos; };
  return (has("Time (%)") || has("Time(%)")) && has("Total Time");
}

}  // namespace roofline
