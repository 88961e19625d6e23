// The steps of a program and the parts of a GPU's wall time, to and from JSON. Internal to src/report.
#pragma once

#include <limits>
#include <type_traits>
#include <vector>

#include "report/json/json_value.hpp"
#include "report/profile.hpp"

namespace roofline {

inline int read_int(const JsonValue& json) {
  const std::int64_t value = json.integer();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) json.fail("out of range");
  return static_cast<int>(value);
}

inline double read_seconds(const JsonValue& json) {
  const double seconds = json.number();
  if (seconds < 0) json.fail("a time can't be negative");
  return seconds;
}

template <class Value>
nlohmann::ordered_json list_to_json(const std::vector<Value>& values, nlohmann::ordered_json (*to_json)(const Value&)) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Value& value : values) json.push_back(to_json(value));
  return json;
}

template <class Read>
auto read_list(const JsonValue& json, Read read) {
  std::vector<std::invoke_result_t<Read, const JsonValue&>> values;
  for (const JsonValue& element : json.elements()) values.push_back(read(element));
  return values;
}

nlohmann::ordered_json wall_to_json(const WallTime& wall);
WallTime read_wall(const JsonValue& json);

/// The value of a profile's `steps`.
nlohmann::ordered_json steps_to_json(const Steps& steps);
Steps read_steps(const JsonValue& json);

}  // namespace roofline
