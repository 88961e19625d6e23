// Checked access to a JSON document, and the few rules of writing one.
#include "report/json/json_value.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/error.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// Text of a file in a message: without control characters, and shortened.
std::string printable(const std::string& text) { return shorten(clean_line(text), 300); }

/// "run.json:3:17", where the parser had read `bytes` bytes of `text` when it gave up.
std::string position(const std::string& source, const std::string& text, std::size_t bytes) {
  const std::string_view before(text.data(), std::min(bytes == 0 ? 0 : bytes - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return source + ":" + std::to_string(line) + ":" + std::to_string(before.size() - line_start + 1);
}

/// The library's message without its own prefix "[json.exception…] parse error at line 1, column 3: ".
std::string message_of(const std::string& message) {
  const std::size_t column = message.find(", column ");
  const std::size_t colon = message.find(": ", column == std::string::npos ? 0 : column);
  return printable(colon == std::string::npos ? message : message.substr(colon + 2));
}

}  // namespace

JsonValue JsonValue::operator[](std::string_view key) const {
  if (std::optional<JsonValue> member = find(key)) return *std::move(member);
  JsonValue(*json_, member_path(key)).fail("missing");
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  expect(json_->is_object(), "an object");
  const auto member = json_->find(std::string(key));
  if (member == json_->end()) return std::nullopt;
  return JsonValue(*member, member_path(key));
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  expect(json_->is_object(), "an object");
  std::vector<std::pair<std::string, JsonValue>> result;
  result.reserve(json_->size());
  for (const auto& [key, value] : json_->items()) result.emplace_back(key, JsonValue(value, member_path(key)));
  return result;
}

std::vector<JsonValue> JsonValue::elements() const {
  expect(json_->is_array(), "an array");
  std::vector<JsonValue> result;
  result.reserve(json_->size());
  for (const Json& value : *json_) {
    result.emplace_back(value, path_ + "[" + std::to_string(result.size()) + "]");
  }
  return result;
}

double JsonValue::number() const {
  expect(json_->is_number(), "a number");
  return json_->get<double>();
}

std::int64_t JsonValue::integer() const {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  expect(json_->is_number_integer() && !(json_->is_number_unsigned() && json_->get<std::uint64_t>() > kMax),
         "an integer");
  return json_->get<std::int64_t>();
}

std::uint64_t JsonValue::natural() const {
  expect(json_->is_number_unsigned() || (json_->is_number_integer() && json_->get<std::int64_t>() >= 0),
         "an integer that is not negative");
  return json_->get<std::uint64_t>();
}

bool JsonValue::boolean() const {
  expect(json_->is_boolean(), "true or false");
  return json_->get<bool>();
}

std::string JsonValue::text() const {
  expect(json_->is_string(), "a string");
  return json_->get<std::string>();
}

std::vector<double> JsonValue::numbers() const {
  std::vector<double> result;
  for (const JsonValue& element : elements()) result.push_back(element.number());
  return result;
}

Interval JsonValue::interval() const {
  expect(json_->is_array() && json_->size() == 2, "an array of two numbers, [low, high]");
  const std::vector<double> bounds = numbers();
  if (bounds[0] > bounds[1]) fail("the lower bound lies above the upper one");
  return {bounds[0], bounds[1]};
}

double JsonValue::number_or(std::string_view key, double fallback) const {
  const std::optional<JsonValue> member = find(key);
  return member ? member->number() : fallback;
}

std::string JsonValue::text_or(std::string_view key, const std::string& fallback) const {
  const std::optional<JsonValue> member = find(key);
  return member ? member->text() : fallback;
}

std::optional<double> JsonValue::optional_number(std::string_view key) const {
  const std::optional<JsonValue> member = find(key);
  return member ? std::optional(member->number()) : std::nullopt;
}

Interval JsonValue::optional_interval(std::string_view key) const {
  const std::optional<JsonValue> member = find(key);
  return member ? member->interval() : Interval{};
}

void JsonValue::check_index(std::string_view key, std::int64_t index, std::size_t count) const {
  if (index < 0 || static_cast<std::uint64_t>(index) < count) return;
  (*this)[key].fail("there is no entry " + std::to_string(index));
}

void JsonValue::fail(const std::string& complaint, const std::string& hint) const {
  throw UsageError((path_.empty() ? "the document" : printable(path_)) + ": " + printable(complaint), hint);
}

std::string JsonValue::member_path(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void JsonValue::expect(bool holds, std::string_view type) const {
  if (!holds) fail("expected " + std::string(type) + ", found " + json_->type_name());
}

Json parse_json_text(const std::string& text, const std::string& source) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw UsageError(position(source, text, error.byte) + ": not valid JSON: " + message_of(error.what()));
  } catch (const Json::exception& error) {
    // Numbers that no double can hold ("1e999").
    throw UsageError(source + ": not valid JSON: " + message_of(error.what()));
  }
}

std::string to_json_text(const Json& json) {
  return escape_controls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

void put_number(Json& object, const char* key, double value) {
  if (std::isfinite(value)) object[key] = value;
}

void put_interval(Json& object, const char* key, const Interval& value) {
  if (value.known()) object[key] = Json::array({value.low, value.high});
}

void put_text(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

}  // namespace roofline
