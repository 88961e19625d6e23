// Lines of Python code objects, from the tables that they carry.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofline {

/// Source line of the instruction at a byte offset. `minor`: the Python version (3.9 has co_lnotab, later ones
/// co_linetable in two formats). The first line if the table has no entry.
int python_line(int minor, std::string_view table, int first_line, std::int64_t offset);

}  // namespace roofline
