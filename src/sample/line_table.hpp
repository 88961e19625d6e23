// Source lines of native code, from .debug_line (DWARF 2 to 5). Nothing in it is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sample/elf_file.hpp"

namespace roofline {

struct SourceLine {
  std::string file;  ///< with its folder as the table has it; empty: not known
  int line = 0;
  std::uint64_t address = 0;  ///< where this row begins
};

/// The lines of linked addresses; empty for those of which the file has none.
struct SourceLines {
  std::vector<SourceLine> at;      ///< the row that holds the address
  std::vector<SourceLine> around;  ///< the last row at or before it whose file is not of the system
};
/// `addresses` are sorted.
SourceLines source_lines(const ElfFile& elf, const std::vector<std::uint64_t>& addresses);

}  // namespace roofline
