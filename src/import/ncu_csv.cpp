// Numbers are parsed after the whole file was read, because a single "25,120" may be 25.12 or 25,120.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "import/ncu.hpp"
#include "import/ncu_messages.hpp"
#include "import/ncu_metrics.hpp"
#include "import/ncu_repeats.hpp"
#include "import/ncu_table.hpp"
#include "import/ncu_units.hpp"
#include "import/text_lines.hpp"
#include "model/error.hpp"
#include "model/find.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr const char* kWriteHint = "write it with: ncu --import report.ncu-rep --page raw --csv --print-units base";
constexpr const char* kTruncatedHint = "the file is incomplete: export the report again, with --page raw --csv";
constexpr const char* kNumberHint = "write it with: ncu --import report.ncu-rep --page raw --csv --print-fp";

/// A metric's value before its number is read.
struct NcuCell {
  std::uint32_t metric = 0;  ///< index into the metrics
  std::uint32_t column = 0;  ///< index into the names of columns
  double scale = 1;
  std::int64_t line = 0;
  std::string text;
};

struct NcuRow {
  NcuLaunch launch;
  std::vector<NcuCell> cells;
};

std::string quoted_cell(std::string_view text) { return clean_line(text.substr(0, 40)); }

class NcuCsv {
 public:
  explicit NcuCsv(ByteSource& source) : source_(source), lines_(source) {}

  ImportedProfile read() {
    std::string record;
    while (next_record(record)) {
      if (auto table = ncu_table(record)) {
        begin(std::move(*table));
      } else if (table_) {
        take(csv_fields(record, table_->separator));
      }
    }
    if (rows_.empty()) fail_empty();
    if (!metric_names_.any_known()) fail_at(lines_.number(), metric_names_.why_none(), kNcuRecordHint);
    note_cut_line();
    return profile();
  }

 private:
  [[noreturn]] void fail_at(std::int64_t line, const std::string& what, const char* hint = kWriteHint) const {
    throw UsageError(fmt::format("{}: line {}: {}", source_.name(), line, what), hint);
  }
  [[noreturn]] void fail(const std::string& what, const char* hint = kWriteHint) const {
    fail_at(record_line_, what, hint);
  }

  [[noreturn]] void fail_empty() const {
    if (const NcuMessage* message = messages_.reason()) {
      const std::string remedy(remedy_of(message->kind));
      fail_at(message->line, what_ncu_said(*message) + "; the file has no launches",
              remedy.empty() ? kWriteHint : remedy.c_str());
    }
    fail_at(lines_.number(),
            table_ ? "the file has no launches" : "no header of ncu's CSV (a line that starts with \"ID\")");
  }

  /// A line before the header, or a record: quoted fields may hold line ends. Passes over ncu's messages.
  bool next_record(std::string& record) {
    constexpr std::size_t kLongest = std::size_t{1} << 24;
    constexpr std::int64_t kMostLines = 10'000'000;
    do {
      if (!lines_.next(record)) return false;
      if (!table_ && lines_.number() > kMostLines) return false;
    } while (messages_.take(record, lines_.number()));
    record_line_ = lines_.number();
    std::string line;
    while (table_ && std::count(record.begin(), record.end(), '"') % 2 != 0) {
      if (record.size() > kLongest) fail("a record of more than 16 MB");
      if (!lines_.next(line)) fail("the file ends inside a quoted field that begins here", kTruncatedHint);
      record += '\n' + line;
    }
    last_is_quoted_ = record.ends_with('"');
    return true;
  }

  void begin(NcuTable table) {
    if (!table.has("Kernel Name")) {
      fail("the summary has no column \"Kernel Name\"", "write it with: ncu --print-summary per-kernel --csv");
    }
    if (!rows_.empty()) {
      notes_.push_back(
          fmt::format("line {}: another header; the launches after it are added to those before it", record_line_));
    }
    ++tables_;
    has_units_ = false;
    table_ = std::move(table);
    wide_.clear();
    const auto& names = table_->names;
    for (std::size_t i = 0; table_->form == NcuForm::wide && i < names.size(); ++i) {
      if (names[i].find("__") == std::string::npos) continue;
      wide_.push_back({.index = i, .metric = metric(names[i]), .kept = metric_names_.take(names[i])});
      set_unit(wide_.back(), table_->units[i]);
    }
    if (table_->form == NcuForm::wide && !metric_names_.any_known()) fail(metric_names_.why_none(), kNcuRecordHint);
  }

  std::uint32_t metric(std::string_view name) {
    const auto [found, is_new] =
        metric_ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(metrics_.size()));
    if (is_new) metrics_.emplace_back(name);
    return found->second;
  }

  void take(const std::vector<std::string>& fields) {
    const bool summary = table_->form == NcuForm::summary;
    const std::string& id = table_->field(fields, "ID");
    if (fields.size() == 1 && !is_ncu_launch_id(fields.front())) return;  // an empty line, or what was printed after it
    const bool wide = table_->form == NcuForm::wide;
    if (!summary && !id.empty() && !is_ncu_launch_id(id))
      fail(fmt::format("\"{}\" is not a launch ID", quoted_cell(id)));
    // Rows of the details page lack the columns of the rules.
    const std::size_t all = table_->names.size();
    const std::size_t least = wide ? all : table_->columns.find(value_column())->second + 1;
    if (fields.size() < least) {
      fail(fmt::format("{} fields, but the header has {}: the file is truncated", fields.size(), all), kTruncatedHint);
    }
    if (fields.size() > all) {
      fail(fmt::format("{} fields, but the header has {}: a field with commas has no quotes", fields.size(), all));
    }
    if (!summary && id.empty()) {
      if (wide) read_units(fields);
      return;
    }
    if (wide) {
      take_wide(fields);
    } else {
      take_long(fields);
    }
  }

  /// Column of the value in forms with one metric per row.
  std::string_view value_column() const { return table_->form == NcuForm::summary ? "Average" : "Metric Value"; }

  void take_wide(const std::vector<std::string>& fields) {
    if (!repeats_.is_new(key_of(fields), fields)) return;
    NcuRow& row = add_row(fields);
    for (const Column& column : wide_) {
      const std::string& text = fields[column.index];
      if (!column.kept) numbers_.learn(text, place(column.index), column.counts);
      if (!column.kept || !column.known) continue;
      if (column.unit.empty()) require_unit(column.metric, column.index, text);
      add_cell(row, column.metric, column.index, column.scale, text, column.counts);
    }
  }

  void take_long(const std::vector<std::string>& fields) {
    const std::size_t column = table_->columns.find(value_column())->second;
    const std::string &unit = table_->field(fields, "Metric Unit"), &text = fields[column];
    const std::string key = key_of(fields);
    const auto [found, is_new] = row_ids_.try_emplace(key, rows_.size());
    if (is_new) add_row(fields);
    const bool returns = std::exchange(last_key_, key) != key && !is_new;
    const std::string_view name = ncu_metric_of_label(table_->field(fields, "Metric Name"), unit);
    const auto scale = ncu_unit_scale(unit);
    const bool counts = is_count(name, scale);
    if (!metric_names_.take(name)) return numbers_.learn(text, place(column), counts);
    if (!scale) return add_unknown_unit(unit);
    if (unit.empty()) require_unit(metric(name), column, text);
    if (returns && has_other_value(rows_[found->second], metric(name), text)) {
      repeats_.add_reused_id();
      found->second = rows_.size();
      add_row(fields);
    }
    add_cell(rows_[found->second], metric(name), column, *scale, text, counts);
  }

  static bool has_other_value(const NcuRow& row, std::uint32_t metric, const std::string& text) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [&](const NcuCell& cell) { return cell.metric == metric && cell.text != text; });
  }

  std::string key_of(const std::vector<std::string>& fields) const {
    std::string key =
        fmt::format("{}/{}/{}", tables_, table_->field(fields, "Process ID"), table_->field(fields, "ID"));
    if (table_->form != NcuForm::summary) return key + '/' + table_->field(fields, "Kernel Name");
    for (const auto& [name, index] : table_->columns) {
      if (name.starts_with("Metric ") || name.starts_with("Rule ") || name == "Section Name") continue;
      if (name == "Minimum" || name == "Maximum" || name == "Average" || name == "Body Item Label") continue;
      if (index < fields.size()) key += '\n' + fields[index];
    }
    return key;
  }

  CellPlace place(std::size_t column) const { return {record_line_, static_cast<std::uint32_t>(column)}; }

  void add_cell(NcuRow& row, std::uint32_t metric, std::size_t column, double scale, const std::string& text,
                bool counts) {
    if (is_absent(text)) {
      if (!text.empty() && absent_++ == 0) first_absent_ = {record_line_, metric};
      return;
    }
    numbers_.learn(text, place(column), counts);
    row.cells.push_back({metric, static_cast<std::uint32_t>(column), scale, record_line_, text});
  }

  NcuRow& add_row(const std::vector<std::string>& fields) {
    NcuRow& row = rows_.emplace_back();
    row.launch.name = table_->field(fields, "Kernel Name");
    row.launch.grid = ncu_extents(table_->field(fields, "Grid Size"));
    row.launch.block = ncu_extents(table_->field(fields, "Block Size"));
    row.launch.stream = ncu_whole(table_->field(fields, "Stream"));
    row.launch.context = ncu_whole(table_->field(fields, "Context"));
    row.launch.device = std::min(ncu_whole(table_->field(fields, "Device")), 1023U);
    process_ = ncu_whole(table_->field(fields, "Process ID"));
    for (const auto& [name, index] : table_->columns) {
      if (name.find("Push/Pop_Range") != std::string::npos && index < fields.size())
        row.launch.ranges = ncu_ranges(fields[index]);
    }
    if (table_->form == NcuForm::summary) row.launch.invocations = invocations_of(fields);
    return row;
  }

  std::uint32_t invocations_of(const std::vector<std::string>& fields) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 22;
    std::string digits = table_->field(fields, "Invocations");
    std::erase_if(digits, [](char character) { return character < '0' || character > '9'; });  // thousands
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    const bool read = error == std::errc() && count > 0;
    if (!read)
      fail(fmt::format("\"{}\" is not a number of launches", quoted_cell(table_->field(fields, "Invocations"))));
    if (count > kMost - summed_) fail("a summary of more than 4 million launches");
    summed_ += count;
    return static_cast<std::uint32_t>(count);
  }

  struct Column {
    std::size_t index = 0;
    std::uint32_t metric = 0;
    bool kept = false;
    bool known = true;  ///< its unit
    bool counts = false;
    double scale = 1;
    std::string unit = {};
  };

  static bool is_count(std::string_view name, const std::optional<double>& scale) {
    return scale && *scale == 1 && is_ncu_count(name);
  }

  void set_unit(Column& column, const std::string& unit) {
    const auto scale = ncu_unit_scale(unit);
    column.unit = unit;
    column.known = scale.has_value();
    column.scale = scale.value_or(1);
    column.counts = is_count(metrics_[column.metric], scale) && !unit.empty();
    if (!scale && column.kept) add_unknown_unit(unit);
  }

  void read_units(const std::vector<std::string>& fields) {
    if (std::exchange(has_units_, true)) return;
    for (Column& column : wide_) {
      if (!fields[column.index].empty()) set_unit(column, fields[column.index]);
    }
  }

  void add_unknown_unit(const std::string& unit) {
    if (!contains(unknown_units_, unit)) unknown_units_.push_back(unit);
  }

  void require_unit(std::uint32_t metric, std::size_t column, const std::string& text) const {
    if (is_absent(text) || !ncu_metric_needs_unit(metrics_[metric])) return;
    fail(fmt::format("column {} ({}): \"{}\" has no unit", column + 1, metrics_[metric], quoted_cell(text)));
  }

  void parse_cells(NcuRow& row) {
    for (const NcuCell& cell : row.cells) {
      const std::string& name = metrics_[cell.metric];
      const NcuNumbers::Reading reading = numbers_.parse(cell.text);
      if (reading.status == NcuNumbers::Status::ok) {
        row.launch.values[name] = reading.value * cell.scale;
      } else if (is_ncu_text(name)) {
        row.launch.texts[name] = cell.text;
      } else {
        fail_number(cell, reading.status);
      }
    }
    row.cells = {};
  }

  [[noreturn]] void fail_number(const NcuCell& cell, NcuNumbers::Status status) const {
    const std::string where =
        fmt::format("column {} ({}): \"{}\"", cell.column + 1, metrics_[cell.metric], quoted_cell(cell.text));
    switch (status) {
      case NcuNumbers::Status::undecided:
        fail_at(cell.line, where + " may have a decimal sign or thousands, and no other number of the file shows which",
                kNumberHint);
      case NcuNumbers::Status::contradictory:
        fail_at(cell.line,
                fmt::format("{} may have a decimal sign or thousands: line {} has a decimal point and line {} a "
                            "decimal comma",
                            where, numbers_.with_point().line, numbers_.with_comma().line),
                kNumberHint);
      default:
        fail_at(cell.line, where + " is not a number");
    }
  }

  /// Without quotes, a number of the last line may have lost digits.
  void note_cut_line() {
    if (lines_.ended() || last_is_quoted_) return;
    notes_.push_back(fmt::format(
        "line {} has no line end: if the file is truncated, its last value is wrong; export the report again",
        lines_.number()));
  }

  ImportedProfile profile() {
    ImportedProfile profile;
    profile.kind = ImportedKind::ncu;
    profile.file = source_.name();
    profile.tool = "ncu";
    profile.trace.process.pid = process_;
    std::vector<NcuLaunch> launches;
    for (NcuRow& row : rows_) {
      parse_cells(row);
      launches.push_back(std::move(row.launch));
    }
    profile.notes = messages_.notes();
    profile.notes.insert(profile.notes.end(), notes_.begin(), notes_.end());
    for (std::string& note : repeats_.notes()) profile.notes.push_back(std::move(note));
    if (absent_ > 0) {
      profile.notes.push_back(
          fmt::format("{} values are missing (n/a), the first {} in line {}: this GPU or ncu's version has no such "
                      "metric; ncu --query-metrics lists those it has",
                      absent_, metrics_[first_absent_.column], first_absent_.line));
    }
    for (const std::string& unit : unknown_units_) {
      profile.notes.push_back(fmt::format("metrics with the unknown unit \"{}\" were skipped", quoted_cell(unit)));
    }
    add_ncu_launches(profile, launches);
    return profile;
  }

  ByteSource& source_;
  TextLines lines_;
  std::int64_t record_line_ = 0;  ///< first line of the current record
  bool last_is_quoted_ = true;    ///< the last field of the last record
  std::optional<NcuTable> table_;
  int tables_ = 0;
  bool has_units_ = false;
  std::vector<Column> wide_;  ///< metrics among the columns
  std::vector<std::string> metrics_;
  NcuMetricNames metric_names_;
  std::map<std::string, std::uint32_t, std::less<>> metric_ids_;
  std::vector<NcuRow> rows_;
  std::map<std::string, std::size_t> row_ids_;  ///< of the forms with a metric a row
  std::string last_key_;                        ///< of them
  NcuRepeats repeats_;
  std::vector<std::string> unknown_units_, notes_;
  NcuMessages messages_;
  NcuNumbers numbers_;
  std::int64_t absent_ = 0;
  CellPlace first_absent_;  ///< with the metric's index for a column
  std::uint64_t summed_ = 0;
  std::uint32_t process_ = 0;
};

}  // namespace

ImportedProfile read_ncu_csv(ByteSource& source) { return NcuCsv(source).read(); }

bool looks_like_ncu_csv(std::string_view beginning) {
  const std::string text = utf8_beginning(beginning);
  for (const char* mark : {"==PROF==", "==ERROR==", "==WARNING=="}) {
    if (text.find(mark) != std::string::npos) return true;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (line.starts_with("\"ID\"") || ncu_table(line)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace roofline
