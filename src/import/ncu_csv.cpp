// Columns are found by name: their positions differ between versions, pages and options. Numbers are parsed after the
// whole file was read, because a single "25,120" may be 25.12 or 25,120.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "import/ncu.hpp"
#include "import/ncu_launch.hpp"
#include "import/ncu_units.hpp"
#include "model/error.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

constexpr std::string_view kHeader = "\"ID\"";

/// A metric's value before its number is read.
struct Cell {
  std::uint32_t metric = 0;  ///< index into the metrics
  double scale = 1;
  std::string text;
};

struct Row {
  NcuLaunch launch;
  std::vector<Cell> cells;
};

/// Labels of the details page that belong to exactly one metric.
std::string_view metric_of_label(std::string_view label) {
  static constexpr std::pair<std::string_view, std::string_view> kLabels[] = {
      {"Duration", "gpu__time_duration.sum"},
      {"Registers Per Thread", "launch__registers_per_thread"},
      {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
      {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"}};
  for (const auto& [text, metric] : kLabels) {
    if (text == label) return metric;
  }
  return label;
}

class NcuCsv {
 public:
  explicit NcuCsv(ByteSource& source) : source_(source) {}

  ImportedProfile read() {
    read_header();
    std::vector<std::string> fields;
    while (next_record(fields)) take(fields);
    if (rows_.empty()) fail("the file has no launches");
    ImportedProfile profile;
    profile.kind = ImportedKind::ncu;
    profile.file = source_.name();
    profile.tool = "ncu";
    profile.trace.process.pid = process_;
    std::vector<NcuLaunch> launches;
    for (Row& row : rows_) {
      for (const Cell& cell : row.cells) {
        if (const auto value = numbers_.read(cell.text)) {
          row.launch.values[metrics_[cell.metric]] = *value * cell.scale;
        } else {
          row.launch.texts[metrics_[cell.metric]] = cell.text;
        }
      }
      row.cells = {};
      launches.push_back(std::move(row.launch));
    }
    for (const std::string& unit : unknown_units_) {
      profile.notes.push_back(fmt::format("metrics with the unknown unit \"{}\" were skipped", unit));
    }
    add_ncu_launches(profile, launches);
    return profile;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{}: line {}: {}", source_.name(), line_, what),
                     "write it with: ncu --import report.ncu-rep --page raw --csv --print-units base");
  }

  bool next_line(std::string& text) {
    if (!source_.line(text)) return false;
    ++line_;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    return true;
  }

  /// Skips what the program and ncu printed before the header.
  void read_header() {
    std::string line;
    constexpr std::int64_t kMostLines = 10'000'000;
    while (next_line(line)) {
      if (line_ > kMostLines) break;
      if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
      if (!line.starts_with(kHeader)) continue;
      if (line.size() > kHeader.size()) separator_ = line[kHeader.size()];
      std::vector<std::string> names = split(line);
      for (std::size_t i = 0; i < names.size(); ++i) columns_.try_emplace(names[i], i);
      names_ = std::move(names);
      is_long_ = columns_.contains("Metric Name") && columns_.contains("Metric Value");
      if (!columns_.contains("Kernel Name")) fail("the header has no column \"Kernel Name\"");
      for (std::size_t i = 0; !is_long_ && i < names_.size(); ++i) {
        if (is_ncu_metric(names_[i])) wide_.push_back({i, metric(names_[i]), 1, true});
      }
      if (!is_long_ && wide_.empty()) fail("no known metric among the columns");
      return;
    }
    fail("no header of ncu's CSV (a line that starts with \"ID\")");
  }

  std::uint32_t metric(std::string_view name) {
    const auto [found, is_new] =
        metric_ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(metrics_.size()));
    if (is_new) metrics_.emplace_back(name);
    return found->second;
  }

  /// A record: quoted fields may hold line ends.
  bool next_record(std::vector<std::string>& fields) {
    std::string line, record;
    constexpr std::size_t kLongest = std::size_t{1} << 24;
    if (!next_line(record)) return false;
    while (std::count(record.begin(), record.end(), '"') % 2 != 0) {
      if (record.size() > kLongest) fail("a record of more than 16 MB");
      if (!next_line(line)) fail("the file ends inside a quoted field");
      record += '\n' + line;
    }
    fields = split(record);
    return true;
  }

  std::vector<std::string> split(std::string_view record) const {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < record.size(); ++i) {
      const char character = record[i];
      if (character == '"') {
        const bool doubled = quoted && i + 1 < record.size() && record[i + 1] == '"';
        if (doubled) fields.back() += '"';
        if (doubled) ++i;
        if (!doubled) quoted = !quoted;
      } else if (character == separator_ && !quoted) {
        fields.emplace_back();
      } else {
        fields.back() += character;
      }
    }
    return fields;
  }

  const std::string& field(const std::vector<std::string>& fields, std::string_view column) const {
    static const std::string nothing;
    const auto found = columns_.find(column);
    return found == columns_.end() || found->second >= fields.size() ? nothing : fields[found->second];
  }

  void take(const std::vector<std::string>& fields) {
    const std::string& id = fields.front();
    const bool numbered = !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
    if (fields.size() == 1 && !numbered) return;  // an empty line, or what was printed after it
    if (id.empty()) {
      if (!is_long_) read_units(fields);
      return;
    }
    if (id.starts_with("==")) return;
    if (!numbered) fail(fmt::format("\"{}\" is not a launch ID", id.substr(0, 40)));
    // Rows of the details page lack the columns of the rules.
    const std::size_t least = is_long_ ? columns_.find("Metric Value")->second + 1 : names_.size();
    if (fields.size() < least) {
      fail(fmt::format("{} fields, but the header has {}: the file is truncated", fields.size(), names_.size()));
    }
    if (fields.size() > names_.size())
      fail(fmt::format("{} fields, but the header has {}", fields.size(), names_.size()));
    if (is_long_) {
      take_long(id, fields);
    } else {
      Row& row = add_row(fields);
      for (const Column& column : wide_) {
        if (column.known && column.index < fields.size())
          add_cell(row, column.metric, column.scale, fields[column.index]);
      }
    }
  }

  void read_units(const std::vector<std::string>& fields) {
    for (Column& column : wide_) {
      if (column.index < fields.size()) column.known = scale_of(fields[column.index], column.scale);
    }
  }

  bool scale_of(const std::string& unit, double& scale) {
    const auto found = ncu_unit_scale(unit);
    if (found) scale = *found;
    if (!found && !contains(unknown_units_, unit)) {
      unknown_units_.push_back(unit);
    }
    return found.has_value();
  }

  void take_long(const std::string& id, const std::vector<std::string>& fields) {
    const std::string key = field(fields, "Process ID") + '/' + id;
    const auto [found, is_new] = row_ids_.try_emplace(key, rows_.size());
    if (is_new) add_row(fields);
    const std::string_view name = metric_of_label(field(fields, "Metric Name"));
    double scale = 1;
    if (!is_ncu_metric(name) || !scale_of(field(fields, "Metric Unit"), scale)) return;
    add_cell(rows_[found->second], metric(name), scale, field(fields, "Metric Value"));
  }

  void add_cell(Row& row, std::uint32_t metric, double scale, const std::string& text) {
    if (text.empty() || text == "n/a" || text == "no data" || text == "(!) n/a") return;
    numbers_.learn(text);
    row.cells.push_back({metric, scale, text});
  }

  Row& add_row(const std::vector<std::string>& fields) {
    Row& row = rows_.emplace_back();
    NcuLaunch& launch = row.launch;
    launch.name = field(fields, "Kernel Name");
    launch.grid = extents(field(fields, "Grid Size"));
    launch.block = extents(field(fields, "Block Size"));
    launch.stream = whole(field(fields, "Stream"));
    launch.context = whole(field(fields, "Context"));
    launch.device = std::min(whole(field(fields, "Device")), 1023U);
    process_ = whole(field(fields, "Process ID"));
    for (const auto& [name, index] : columns_) {
      if (name.find("Push/Pop_Range") != std::string::npos && index < fields.size())
        launch.ranges = ranges_in(fields[index]);
    }
    return row;
  }

  static std::uint32_t whole(std::string_view text) {
    std::uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  /// "(32768, 1, 1)", in old versions "32768,1,1".
  static std::array<std::uint32_t, 3> extents(std::string_view text) {
    std::array<std::uint32_t, 3> result = {1, 1, 1};
    std::size_t at = 0;
    for (std::uint32_t& extent : result) {
      at = text.find_first_of("0123456789", at);
      if (at == std::string_view::npos) break;
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
      at = static_cast<std::size_t>(end - text.data());
      if (error != std::errc()) extent = 0xffffffffU;
    }
    return result;
  }

  /// `561  "<default domain>:step:none:none:none:none:none:none"  "…"`: domain, name, and six attributes.
  static std::vector<std::string> ranges_in(std::string_view text) {
    std::vector<std::string> ranges;
    for (std::size_t open = text.find('"'); open != std::string_view::npos; open = text.find('"', open)) {
      const std::size_t close = text.find('"', open + 1);
      if (close == std::string_view::npos) break;
      std::string_view range = text.substr(open + 1, close - open - 1);
      open = close + 1;
      range.remove_prefix(std::min(range.size(), range.find(':') == std::string_view::npos ? 0 : range.find(':') + 1));
      for (int attribute = 0; attribute < 6; ++attribute) range = range.substr(0, range.rfind(':'));
      if (!range.empty()) ranges.emplace_back(range);
    }
    return ranges;
  }

  struct Column {
    std::size_t index = 0;
    std::uint32_t metric = 0;
    double scale = 1;
    bool known = true;  ///< its unit
  };

  ByteSource& source_;
  std::int64_t line_ = 0;
  char separator_ = ',';
  bool is_long_ = false;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::string> names_;
  std::vector<Column> wide_;  ///< metrics among the columns
  std::vector<std::string> metrics_;
  std::map<std::string, std::uint32_t, std::less<>> metric_ids_;
  std::vector<Row> rows_;
  std::map<std::string, std::size_t> row_ids_;  ///< of the long form
  std::vector<std::string> unknown_units_;
  NcuNumbers numbers_;
  std::uint32_t process_ = 0;
};

}  // namespace

ImportedProfile read_ncu_csv(ByteSource& source) { return NcuCsv(source).read(); }

bool looks_like_ncu_csv(std::string_view beginning) {
  if (beginning.starts_with("\xef\xbb\xbf")) beginning.remove_prefix(3);
  return beginning.starts_with("\"ID\"") || beginning.find("\n\"ID\"") != std::string_view::npos ||
         beginning.find("==PROF==") != std::string_view::npos;
}

}  // namespace roofline
