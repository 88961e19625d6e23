// Fields and lines of CSV by RFC 4180. An absent value is an empty field.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "op/workload.hpp"

namespace roofline {

/// Quoted only where it must be, quotes doubled.
std::string csv_text(std::string_view text);

/// The shortest digits that read back as the same number; empty for what is not finite.
std::string csv_number(double value);

/// "m=4096 n=4096".
std::string csv_shape(const Shape& shape);

/// A row: its fields, each under the name of its column.
using CsvRow = std::vector<std::pair<std::string_view, std::string>>;

/// The names or the fields of a row, and the line's end.
std::string csv_names(const CsvRow& row);
std::string csv_line(const CsvRow& row);

}  // namespace roofline
