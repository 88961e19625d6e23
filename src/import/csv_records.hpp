// The records of a CSV file (RFC 4180), one after another; columns are found by name. Programs of countries with
// decimal commas separate fields by semicolons, and copies from a spreadsheet have tabs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "import/byte_source.hpp"

namespace roofline {

class CsvRecords {
 public:
  explicit CsvRecords(ByteSource& source) : source_(source) {}

  /// The next record, with blanks around its fields removed; false at the end.
  bool next(std::vector<std::string>& fields);
  /// Throws UsageError: "trace.csv: line 12: " and the problem.
  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;
  /// Of the last record's end, from 1.
  std::int64_t line() const { return line_; }

 private:
  bool next_line(std::string& text);
  std::vector<std::string> separated(std::string_view record);

  ByteSource& source_;
  std::int64_t line_ = 0;
  char separator_ = ',';
};

/// The names of columns, compared without case and without parentheses: "Total Time (ns)" is "total time".
class CsvHeader {
 public:
  CsvHeader() = default;
  explicit CsvHeader(const std::vector<std::string>& fields);

  /// The column with the first of these names that there is; kNone without one.
  std::size_t column(std::initializer_list<std::string_view> names) const;
  bool has(std::string_view name) const { return column({name}) != kNone; }
  /// What is in the parentheses of a column's name: "ns".
  const std::string& unit(std::size_t column) const { return units_[column]; }
  std::size_t size() const { return names_.size(); }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 private:
  std::vector<std::string> names_, units_;
};

/// The field; empty if the record is too short.
std::string_view field_in(const std::vector<std::string>& fields, std::size_t column);

}  // namespace roofline
