// Single facts of a document by path; empty if absent or of another type.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace roofline {

using Json = nlohmann::ordered_json;

/// "time_s.median": the value, or null.
const Json* find_fact(const Json& document, std::string_view path);

/// On one line, without control characters; empty if absent.
std::string text_fact(const Json& document, std::string_view path);
std::optional<double> number_fact(const Json& document, std::string_view path);
double number_fact_or(const Json& document, std::string_view path, double fallback);
bool flag_fact(const Json& document, std::string_view path);
/// An array, or an empty one.
const Json& list_fact(const Json& document, std::string_view path);
/// An object, or an empty one.
const Json& object_fact(const Json& document, std::string_view path);

/// "12.3 ms", or "–".
std::string duration_fact(const Json& document, std::string_view path);
/// "33.4 %", or "–".
std::string percent_fact(const Json& document, std::string_view path);
/// "4,534", or "–".
std::string count_fact(const Json& document, std::string_view path);
/// "[11.9 ms, 12.5 ms]"; empty if absent.
std::string duration_interval_fact(const Json& document, std::string_view path);

}  // namespace roofline
