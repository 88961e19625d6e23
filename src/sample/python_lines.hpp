// Lines of Python code objects, from the tables that they carry.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofline {

/// The line of the instruction at a byte offset. `minor` is of the version (3.9 has co_lnotab, later ones co_linetable
/// in two formats); the first line where the table does not tell.
int python_line(int minor, std::string_view table, int first_line, std::int64_t offset);

}  // namespace roofline
