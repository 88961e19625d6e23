// A JSON value with its path in the document, for error messages. Reading only; writing uses
// nlohmann::ordered_json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/ceiling.hpp"
#include "model/error.hpp"

namespace roofline {

class JsonValue {
 public:
  /// `json` must outlive the value. `path` is used in messages; empty for the document's root.
  explicit JsonValue(const nlohmann::ordered_json& json, std::string path = {})
      : json_(&json), path_(std::move(path)) {}

  /// The member with that name. Throws UsageError if it is absent or this is not an object.
  JsonValue operator[](std::string_view key) const;
  /// The member with that name, if present. Throws UsageError if this is not an object.
  std::optional<JsonValue> find(std::string_view key) const;
  /// The members of an object or the elements of an array, in file order.
  std::vector<std::pair<std::string, JsonValue>> members() const;
  std::vector<JsonValue> elements() const;

  double number() const;
  std::int64_t integer() const;
  std::uint64_t natural() const;
  bool boolean() const;
  std::string text() const;
  std::vector<double> numbers() const;
  /// [low, high].
  Interval interval() const;

  /// A word of a closed vocabulary, parsed by a `parse_…` function. `what` names the vocabulary in messages.
  template <class Value>
  Value word(std::optional<Value> (*parse)(std::string_view), std::string_view what) const {
    const std::string given = text();
    if (const std::optional<Value> value = parse(given)) return *value;
    fail("unknown " + std::string(what) + " '" + given + "'");
  }

  // Members that may be absent.
  double number_or(std::string_view key, double fallback) const;
  std::string text_or(std::string_view key, const std::string& fallback) const;
  std::optional<double> optional_number(std::string_view key) const;
  Interval optional_interval(std::string_view key) const;

  /// Throws UsageError unless `index`, read from the member `key`, is below `count`. Negative: the member is absent.
  void check_index(std::string_view key, std::int64_t index, std::size_t count) const;
  /// Throws UsageError with the path in front: "results[3].time_s.median: …".
  [[noreturn]] void fail(const std::string& complaint, const std::string& hint = {}) const;

 private:
  std::string member_path(std::string_view key) const;
  void expect(bool holds, std::string_view type) const;

  const nlohmann::ordered_json* json_;
  std::string path_;
};

/// Parses a JSON document. Throws UsageError "run.json:3:17: not valid JSON: …".
nlohmann::ordered_json parse_json_text(const std::string& text, const std::string& source);

/// Parses and reads `text`; prefixes error messages with the file name.
template <class Value>
Value read_document(const std::string& text, const std::string& source, Value (*read)(const JsonValue&)) {
  const nlohmann::ordered_json document = parse_json_text(text, source);
  try {
    return read(JsonValue(document));
  } catch (const UsageError& error) {
    throw UsageError(source + ": " + error.what(), error.hint());
  }
}

/// Indented text with a final newline. Invalid UTF-8 is repaired.
std::string to_json_text(const nlohmann::ordered_json& json);

/// Writes `value` under `key`; omitted if NaN or infinite, which JSON cannot express.
void put_number(nlohmann::ordered_json& object, const char* key, double value);
void put_interval(nlohmann::ordered_json& object, const char* key, const Interval& value);
/// Writes `value` unless it is empty.
void put_text(nlohmann::ordered_json& object, const char* key, const std::string& value);

}  // namespace roofline
