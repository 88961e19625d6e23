// Source lines of native code, from .debug_line (DWARF 2 to 5). Nothing in it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sample/elf_file.hpp"
#include "sample/line_program.hpp"

namespace roofline {

struct SourceLine {
  std::string file;  ///< with its folder as the table has it; empty: unknown
  int line = 0;
  std::uint64_t address = 0;  ///< where this row begins
};

/// The files of line tables, by the table's offset in .debug_line and the file's number in it.
class LineFileNames {
 public:
  explicit LineFileNames(const ElfFile& elf) : sections_(elf) {}
  /// Empty: unknown.
  std::string name(std::uint64_t table, std::uint64_t file);

 private:
  LineSections sections_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> known_;
};

/// The lines of linked addresses; empty for those of which the file has none.
struct SourceLines {
  std::vector<SourceLine> at;      ///< the row that holds the address
  std::vector<SourceLine> around;  ///< the last row at or before it whose file is not of the system
};
/// `addresses` are sorted.
SourceLines source_lines(const ElfFile& elf, const std::vector<std::uint64_t>& addresses);

/// Where code came from that lies between two addresses.
struct CodeLines {
  struct Row {
    std::uint64_t begin = 0, end = 0;
    std::size_t file = 0;
    int line = 0;
    std::optional<std::size_t> callee = {};  ///< function of the system that is inlined at this line; nullopt: unknown
  };
  std::vector<std::string> files;    ///< each name once
  std::vector<std::string> callees;  ///< symbols, each once
  std::vector<Row> rows;             ///< sorted by where they begin; those of a damaged table may overlap
};
/// The rows that overlap these addresses. A row in a system file that is inlined into other code has the nearest line
/// outside system files, if the table records it.
CodeLines code_lines(const LineSections& sections, std::uint64_t begin, std::uint64_t end);

}  // namespace roofline
