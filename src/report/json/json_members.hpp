// The members of a value, listed once for writing and reading: members(io, value) names them in the order of the
// file, and `io` is a JsonWriter or a JsonReader. Words have a function vocabulary(word), which gives what parses them
// and what messages call them; they are written by id_of(word) where there is one, else by to_string(word). A value
// that is not listed so, or in another file, has json_of(value) and read_json(json, value). Internal to src/report.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "report/json/json_value.hpp"

namespace roofline {

nlohmann::ordered_json to_json_value(const auto& value);

/// Methods for the ways in which a member can be present; JsonReader has the same methods.
class JsonWriter {
 public:
  nlohmann::ordered_json json = nlohmann::ordered_json::object();

  /// Always present.
  void operator()(const char* key, const auto& value) { json[key] = to_json_value(value); }
  void operator()(const char* key, double value) { put_number(json, key, value); }
  /// Always present, except in files of older versions.
  void since(const char* key, const auto& value) { (*this)(key, value); }
  /// Present if it has a value; required on reading if `needed`.
  void optional(const char* key, const auto& value, [[maybe_unused]] bool needed = false) {
    if (value) (*this)(key, *value);
  }
  void positive(const char* key, auto value) {
    if (value > 0) (*this)(key, value);
  }
  /// Seconds, always present and never negative.
  void seconds(const char* key, double value) { (*this)(key, value); }
  /// Present unless it has the standard value.
  void unless(const char* key, const auto& value, const auto& standard) {
    if (value != standard) (*this)(key, value);
  }
  /// Present if the condition, which is for writing only, holds.
  void when(bool condition, const char* key, const auto& value) {
    if (condition) (*this)(key, value);
  }
  /// An index, present unless negative.
  void index(const char* key, int value) {
    if (value >= 0) (*this)(key, value);
  }
  void number_or(const char* key, double value, double) { put_number(json, key, value); }
  void text(const char* key, const std::string& value) { put_text(json, key, value); }
  void interval(const char* key, const Interval& value) { put_interval(json, key, value); }
  /// An object, present if any of its members is.
  void unless_empty(const char* key, const auto& value) {
    if (auto object = to_json_value(value); !object.empty()) json[key] = std::move(object);
  }
  /// Derived from other members: not read.
  void derived(const char* key, std::string_view value) { json[key] = value; }
  void derived(const char* key, double value) { put_number(json, key, value); }
  /// The reason why a member is missing, if it is.
  void absent(const char* key, const char* reason) {
    if (!json.contains(key)) json["absent"] = {{key, reason}};
  }
  /// A condition on a file that was read: call(json).
  void require(const auto&) {}
};

class JsonReader {
 public:
  const JsonValue& json;

  void operator()(const char* key, auto&& value) { read_into(json[key], value); }
  void since(const char* key, auto& value) {
    if (const auto found = json.find(key)) read_into(*found, value);
  }
  void optional(const char* key, auto& value, bool needed = false) {
    if (needed || json.find(key)) read_into(json[key], value.emplace());
  }
  void positive(const char* key, auto& value) { since(key, value); }
  void seconds(const char* key, double& value) {
    value = json[key].number();
    if (value < 0) json[key].fail("a time can't be negative");
  }
  void unless(const char* key, auto& value, const auto& standard) {
    value = standard;
    since(key, value);
  }
  void when(bool, const char* key, auto& value) { since(key, value); }
  void index(const char* key, int& value) {
    const auto found = json.find(key);
    if (!found) return;
    const auto number = found->natural();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) found->fail("out of range");
    value = static_cast<int>(number);
  }
  void number_or(const char* key, double& value, double fallback) { value = json.number_or(key, fallback); }
  void text(const char* key, std::string& value) { value = json.text_or(key, ""); }
  void interval(const char* key, Interval& value) { value = json.optional_interval(key); }
  void unless_empty(const char* key, auto& value) { since(key, value); }
  void derived(const char*, std::string_view) {}
  void derived(const char*, double) {}
  void absent(const char*, const char*) {}
  void require(const auto& call) { call(json); }
};

template <class Value>
nlohmann::ordered_json write_members(const Value& value) {
  JsonWriter io;
  members(io, const_cast<Value&>(value));  // a writer does not modify it
  return std::move(io.json);
}

nlohmann::ordered_json to_json_value(const auto& value) {
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (requires { json_of(value); }) {
    return json_of(value);
  } else if constexpr (std::is_enum_v<Value>) {
    if constexpr (requires { id_of(value); }) {
      return id_of(value);
    } else {
      return to_string(value);
    }
  } else if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>) {
    return value;
  } else if constexpr (requires { typename Value::mapped_type; }) {
    JsonWriter io;
    for (const auto& [key, element] : value) {
      if constexpr (std::is_enum_v<typename Value::key_type>) {
        io(std::string(to_string(key)).c_str(), element);
      } else {
        io(key.c_str(), element);
      }
    }
    return std::move(io.json);
  } else if constexpr (requires { value.front(); }) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& element : value) list.push_back(to_json_value(element));
    return list;
  } else {
    return write_members(value);
  }
}

inline void read_into(const JsonValue& json, bool& value) { value = json.boolean(); }
inline void read_into(const JsonValue& json, int& value) {
  const std::int64_t number = json.integer();
  value = static_cast<int>(number);
  if (value != number) json.fail("out of range");
}
inline void read_into(const JsonValue& json, std::int64_t& value) { value = json.integer(); }
inline void read_into(const JsonValue& json, double& value) { value = json.number(); }
inline void read_into(const JsonValue& json, std::string& value) { value = json.text(); }
inline void read_into(const JsonValue& json, std::array<std::int64_t, 3>& extents) {
  const std::vector<JsonValue> elements = json.elements();
  if (elements.size() != extents.size()) json.fail("expected three extents");
  for (std::size_t i = 0; i < extents.size(); ++i) extents[i] = elements[i].integer();
}

template <class Value>
void read_members(const JsonValue& json, Value& value) {
  JsonReader io{json};
  members(io, value);
}

template <class Value>
void read_into(const JsonValue& json, Value& value) {
  if constexpr (requires { read_json(json, value); }) {
    read_json(json, value);
  } else if constexpr (std::is_enum_v<Value>) {
    const auto [parse, what] = vocabulary(value);
    value = json.word(parse, what);
  } else if constexpr (requires { typename Value::mapped_type; }) {
    for (const auto& [name, element] : json.members()) {
      if constexpr (std::is_enum_v<typename Value::key_type>) {
        const auto [parse, what] = vocabulary(typename Value::key_type());
        const auto key = parse(name);
        if (!key) element.fail("unknown " + std::string(what) + " '" + name + "'");
        read_into(element, value[*key]);
      } else {
        read_into(element, value[name]);
      }
    }
  } else if constexpr (requires { value.emplace_back(); }) {
    for (const JsonValue& element : json.elements()) read_into(element, value.emplace_back());
  } else {
    read_members(json, value);
  }
}

template <class Value>
Value read_value(const JsonValue& json) {
  Value value;
  read_into(json, value);
  return value;
}

}  // namespace roofline
