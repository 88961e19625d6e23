// Kinds of option values: each function makes an OptionValue that parses text into a variable, which must outlive it.
// Invalid text is a UsageError that says what is accepted.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "render/render.hpp"

namespace roofline {

/// Sets `target` to `value`.
OptionValue flag(bool& target, bool value = true);

/// Any text. `value` is its placeholder in help.
OptionValue text(const std::string& value, std::string& target);

/// Words separated by commas.
OptionValue list(const std::string& value, std::vector<std::string>& target);

/// A word each time: of positional arguments.
OptionValue words(const std::string& value, std::vector<std::string>& target);

/// "1600x900" in CSS pixels, from 320x240 to 7680x4320.
OptionValue chart_size(ChartOptions& chart);

/// "3%", "3 %" or "3" is 0.03.
double parse_percentage(const std::string& text, const std::string& option);
double parse_number(const std::string& text, const std::string& option, double least, double most, bool whole);
/// "5s", "500ms", "2min", "2m", "1h" or "5": seconds, of that range.
double parse_duration(const std::string& text, const std::string& option, double least = 0, double most = 86400);

/// The nearest name, or where to read on.
std::string nearest_hint(const std::string& given, const std::vector<std::string>& names, const std::string& help);
[[noreturn]] void refuse_word(const std::string& text, const std::string& option,
                              const std::vector<std::string>& choices);

template <class T>
struct ValueOf {
  using type = T;
};
template <class T>
struct ValueOf<std::optional<T>> {
  using type = T;
};

/// A number of that range; T may be optional.
template <class T>
OptionValue number(const std::string& value, T& target, double least, double most) {
  return {value, [=, &target](const std::string& given, const std::string& option) {
            using Number = typename ValueOf<T>::type;
            target = static_cast<Number>(parse_number(given, option, least, most, std::is_integral_v<Number>));
          }};
}

/// A time with its unit, "500ms", in seconds of that range; T may be optional.
template <class T>
OptionValue seconds(T& target, double least = 0, double most = 86400) {
  return {"DURATION", [=, &target](const std::string& given, const std::string& option) {
            target = parse_duration(given, option, least, most);
          }};
}

/// Per cent, as a fraction; T may be optional.
template <class T>
OptionValue percentage(T& target) {
  return {"PERCENT",
          [&target](const std::string& given, const std::string& option) { target = parse_percentage(given, option); }};
}

/// One of the words, mapped to its value.
template <class T, class U>
OptionValue one_of(T& target, std::initializer_list<std::pair<const char*, U>> choices) {
  OptionValue value{"WORD", {}};
  std::vector<U> values;
  for (const auto& [word, meaning] : choices) {
    value.choices.emplace_back(word);
    values.push_back(meaning);
  }
  value.set = [&target, values, words = value.choices](const std::string& given, const std::string& option) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (given != words[i]) continue;
      target = values[i];
      return;
    }
    refuse_word(given, option, words);
  };
  return value;
}

/// One of the words.
OptionValue one_of(std::string& target, std::initializer_list<const char*> choices);

}  // namespace roofline
