// Single facts of a document by path; empty if absent or of another type.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Indices of a list's elements, largest weight first.
template <class Weight>
std::vector<std::size_t> largest_first(const Json& list, const Weight& weight) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weight(list[a]) > weight(list[b]); });
  return order;
}

/// "12.3 ms", or "–".
std::string duration_fact(const Json& document, std::string_view path);
/// "33.4 %", or "–".
std::string percent_fact(const Json& document, std::string_view path);
/// "4,534", or "–".
std::string count_fact(const Json& document, std::string_view path);
/// "[11.9 ms, 12.5 ms]"; empty if absent.
std::string duration_interval_fact(const Json& document, std::string_view path);

}  // namespace roofline
