// Fields and lines of CSV by RFC 4180. An absent value is an empty field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "op/workload.hpp"

namespace roofline {

/// A column's exact value, in SI base units. std::monostate and NaN: absent.
using Value = std::variant<std::monostate, double, std::int64_t, bool, std::string>;

/// Numbers with the shortest digits that read back as the same number; texts quoted only where they must be.
std::string csv_field(const Value& value);

/// "m=4096 n=4096".
std::string shape_text(const Shape& shape);

/// The fields, and the line's end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace roofline
