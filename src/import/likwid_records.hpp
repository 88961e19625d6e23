// The records of likwid-perfctr's CSV, from the CSV itself or from the tables that it prints for reading.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "import/byte_source.hpp"
#include "import/csv_records.hpp"
#include "import/text_lines.hpp"

namespace roofline {

class LikwidRecords {
 public:
  virtual ~LikwidRecords() = default;

  /// The next record; false at the end.
  virtual bool next(std::vector<std::string>& fields) = 0;
  /// Throws UsageError with the line of the last record.
  [[noreturn]] virtual void fail(const std::string& what) const = 0;
};

/// likwid-perfctr -O.
class LikwidCsv final : public LikwidRecords {
 public:
  explicit LikwidCsv(ByteSource& source) : records_(source) {}

  bool next(std::vector<std::string>& fields) override { return records_.next(fields); }
  [[noreturn]] void fail(const std::string& what) const override { records_.fail(what); }

 private:
  CsvRecords records_;
};

/// Without -O: a line "Group 1: NAME" or "Region NAME, Group 1: NAME" precedes tables of "| name | value | value |"
/// between borders of "+---+". What the program prints is in the same text, and belongs to no table. Several texts may
/// follow each other; each begins with "CPU name:".
class LikwidText final : public LikwidRecords {
 public:
  explicit LikwidText(ByteSource& source) : name_(source.name()), lines_(source) {}

  bool next(std::vector<std::string>& fields) override;
  [[noreturn]] void fail(const std::string& what) const override;

 private:
  void take(std::string_view line);
  void take_group(std::string_view line);
  void take_border();
  void take_cells(std::vector<std::string> cells);

  std::string name_;  ///< of the file
  TextLines lines_;
  std::deque<std::vector<std::string>> ready_;
  std::string region_;       ///< "Region NAME"; empty without markers
  std::string group_;        ///< empty before the first one
  std::string number_;       ///< "Group 1"
  bool in_table_ = false;    ///< of likwid: behind its header
  bool has_border_ = false;  ///< below the header of the table: it ends with another one
};

}  // namespace roofline
