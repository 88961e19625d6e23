#include "mcp/facts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

const Json& fact_of_type(const Json& document, std::string_view path, const Json& none) {
  const Json* const fact = find_fact(document, path);
  return fact != nullptr && fact->type() == none.type() ? *fact : none;
}

}  // namespace

const Json* find_fact(const Json& document, std::string_view path) {
  const Json* at = &document;
  while (true) {
    const std::size_t dot = path.find('.');
    if (!at->is_object()) return nullptr;
    const auto member = at->find(std::string(path.substr(0, dot)));
    if (member == at->end()) return nullptr;
    at = &*member;
    if (dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
}

std::string text_fact(const Json& document, std::string_view path) {
  const Json* const fact = find_fact(document, path);
  return fact != nullptr && fact->is_string() ? clean_line(fact->get_ref<const std::string&>()) : std::string();
}

std::optional<double> number_fact(const Json& document, std::string_view path) {
  const Json* const fact = find_fact(document, path);
  return fact != nullptr && fact->is_number() ? std::optional(fact->get<double>()) : std::nullopt;
}

double number_fact_or(const Json& document, std::string_view path, double fallback) {
  return number_fact(document, path).value_or(fallback);
}

bool flag_fact(const Json& document, std::string_view path) {
  const Json* const fact = find_fact(document, path);
  return fact != nullptr && fact->is_boolean() && fact->get<bool>();
}

const Json& list_fact(const Json& document, std::string_view path) {
  static const Json none = Json::array();
  return fact_of_type(document, path, none);
}

const Json& object_fact(const Json& document, std::string_view path) {
  static const Json none = Json::object();
  return fact_of_type(document, path, none);
}

std::string duration_fact(const Json& document, std::string_view path) {
  const std::optional<double> seconds = number_fact(document, path);
  return seconds ? duration(*seconds) : kAbsent;
}

std::string percent_fact(const Json& document, std::string_view path) {
  const std::optional<double> fraction = number_fact(document, path);
  return fraction ? percent(*fraction) : kAbsent;
}

std::string count_fact(const Json& document, std::string_view path) {
  constexpr double kExact = 1e15;
  const std::optional<double> value = number_fact(document, path);
  if (!value) return kAbsent;
  return std::abs(*value) < kExact ? count(static_cast<std::int64_t>(*value)) : number(*value);
}

std::string duration_interval_fact(const Json& document, std::string_view path) {
  const Json& ends = list_fact(document, path);
  if (ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) return {};
  return fmt::format("[{}, {}]", duration(ends[0].get<double>()), duration(ends[1].get<double>()));
}

}  // namespace roofline
