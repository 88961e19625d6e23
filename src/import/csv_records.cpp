#include "import/csv_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::vector<std::string> fields_of_record(std::string_view record, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char character = record[i];
    const bool doubled = quoted && character == '"' && i + 1 < record.size() && record[i + 1] == '"';
    if (doubled) {
      fields.back() += '"';
      ++i;
    } else if (character == '"') {
      quoted = !quoted;
    } else if (character == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += character;
    }
  }
  for (std::string& field : fields) field = without_blanks(field);
  return fields;
}

}  // namespace

bool CsvRecords::next_line(std::string& text) {
  if (!source_.line(text)) return false;
  if (++line_ == 1 && text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  if (!text.empty() && text.back() == '\r') text.pop_back();
  return true;
}

/// A record without the separator of those before it has one of the others, if any.
std::vector<std::string> CsvRecords::separated(std::string_view record) {
  constexpr std::size_t kFewest = 3;  // what tools print between tables may have a tab or a semicolon
  std::vector<std::string> fields = fields_of_record(record, separator_);
  if (fields.size() > 1) return fields;
  for (const char other : {',', ';', '\t'}) {
    std::vector<std::string> by_other = fields_of_record(record, other);
    if (by_other.size() < kFewest) continue;
    separator_ = other;
    return by_other;
  }
  return fields;
}

bool CsvRecords::next(std::vector<std::string>& fields) {
  constexpr std::size_t kLongest = std::size_t{1} << 24;
  std::string line, record;
  if (!next_line(record)) return false;
  const auto quotes = [](const std::string& text) { return std::count(text.begin(), text.end(), '"'); };
  for (auto open = quotes(record); open % 2 != 0; open += quotes(line)) {
    if (record.size() > kLongest) fail("a record of more than 16 MB");
    if (!next_line(line)) fail("the file ends inside a quoted field");
    record += '\n' + line;
  }
  fields = separated(record);
  return true;
}

void CsvRecords::fail(const std::string& what, const std::string& hint) const {
  throw UsageError(fmt::format("{}: line {}: {}", source_.name(), line_, what), hint);
}

CsvHeader::CsvHeader(const std::vector<std::string>& fields) {
  for (const std::string& field : fields) {
    const std::size_t open = field.find('('), close = field.find(')', open == std::string::npos ? 0 : open);
    const bool has_unit = open != std::string::npos && close != std::string::npos;
    names_.push_back(lower_case(without_blanks(has_unit ? field.substr(0, open) : field)));
    units_.push_back(has_unit ? field.substr(open + 1, close - open - 1) : "");
  }
}

std::size_t CsvHeader::column(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  }
  return kNone;
}

std::string_view field_in(const std::vector<std::string>& fields, std::size_t column) {
  return column < fields.size() ? std::string_view(fields[column]) : std::string_view();
}

}  // namespace roofline
