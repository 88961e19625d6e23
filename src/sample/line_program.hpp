// Runs the line number program of one unit of .debug_line (DWARF 2 to 5). Nothing in it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample/bytes.hpp"

namespace roofline {

class ElfFile;

/// Sections with line tables; empty if the file has none.
struct LineSections {
  LineSections() = default;
  explicit LineSections(const ElfFile& elf);

  std::string lines, line_texts, texts;
};

/// A row covers the addresses up to the next one's.
struct LineRow {
  std::uint64_t address = 0, file = 1;  ///< the file's number in the unit's table
  int line = 1;
  /// The row of the same sequence, counted from one, at whose line this row's function is inlined; 0: not inlined.
  /// Only NVIDIA's compilers write it.
  std::uint64_t call = 0;
  std::string_view function = {};  ///< the inlined function's symbol, in LineSections::texts; empty: unknown
};

class LineProgram {
 public:
  /// `unit`: its bytes after the length; `wide`: whether it is in the 64-bit format.
  LineProgram(const LineSections& sections, std::string_view unit, bool wide)
      : sections_(sections), cursor_(unit), wide_(wide) {}
  virtual ~LineProgram() = default;
  LineProgram(const LineProgram&) = delete;
  LineProgram& operator=(const LineProgram&) = delete;

  /// Calls `began` and `ended` for each row, in order.
  void run();
  /// The file's name, instead of run().
  std::string file_name(std::uint64_t number) { return read_header() ? path_of(number) : std::string(); }

 protected:
  virtual void sequence_began() = 0;
  /// Called twice per row: before and after its end is known. A row that the next one replaces ends at its own address.
  virtual void began(const LineRow& row) = 0;
  virtual void ended(const LineRow& row, std::uint64_t end) = 0;
  /// Path with its folder as in the table; empty if unknown.
  std::string path_of(std::uint64_t number) const;

 private:
  struct File {
    std::string_view name;
    std::uint64_t folder = 0;
  };

  static std::string_view text_at(std::string_view texts, std::uint64_t at);
  std::uint64_t offset() { return wide_ ? cursor_.number<std::uint64_t>() : cursor_.number<std::uint32_t>(); }
  bool read_header();
  bool read_old_tables();
  bool read_tables();
  bool read_entries(std::vector<File>& entries);
  bool read_value(std::uint64_t content, std::uint64_t form, File& entry);
  void step();
  void extended();
  void advance(std::uint64_t operations) { address_ += operations * shortest_; }
  void reset();
  void row();

  const LineSections& sections_;
  ByteCursor cursor_;
  bool wide_;
  int version_ = 0, line_base_ = 0, line_range_ = 0, opcode_base_ = 0;
  std::uint64_t shortest_ = 1;
  std::vector<int> lengths_;
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  std::uint64_t address_ = 0, file_ = 1, call_ = 0;
  std::string_view function_;
  std::int64_t line_ = 1;
  std::optional<LineRow> previous_;
};

}  // namespace roofline
