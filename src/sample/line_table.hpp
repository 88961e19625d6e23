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
};

/// The lines of linked addresses (sorted), each empty where the file has none for it.
std::vector<SourceLine> source_lines(const ElfFile& elf, const std::vector<std::uint64_t>& addresses);

}  // namespace roofline
