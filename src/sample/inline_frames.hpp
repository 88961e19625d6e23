// Functions that a compiler inlined, from .debug_info (DWARF 2 to 5). Nothing in it is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sample/elf_file.hpp"

namespace roofline {

/// A function at an address, and the place of its inlined call.
struct InlinedFunction {
  std::string function;   ///< its symbol, or else its name; empty: unknown
  std::string call_file;  ///< of the call in the next function; empty of the last function, which was not inlined
  int call_line = 0;
};

/// The functions at each of these linked addresses, innermost first; none without debug information. `addresses` are
/// sorted.
std::vector<std::vector<InlinedFunction>> inlined_functions(const ElfFile& elf,
                                                            const std::vector<std::uint64_t>& addresses);

}  // namespace roofline
