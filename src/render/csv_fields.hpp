// Fields and lines of CSV by RFC 4180. An absent value is an empty field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "op/workload.hpp"

namespace roofline {

/// Quoted only where it must be, quotes doubled.
std::string csv_text(std::string_view text);

/// The shortest digits that read back as the same number; empty for what is not finite.
std::string csv_number(double value);

/// "m=4096 n=4096".
std::string csv_shape(const Shape& shape);

/// Appends the fields and the line's end.
void append_csv_line(std::string& text, const std::vector<std::string>& fields);

}  // namespace roofline
