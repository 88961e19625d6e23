// Text → values of options.
#include "cli/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/find.hpp"
#include "text/nearest_name.hpp"
#include "text/parse.hpp"

namespace roofline {
OptionValue flag(bool& target, bool value) {
  return {"", [&target, value](const std::string&, const std::string&) { target = value; }};
}

OptionValue text(const std::string& value, std::string& target) {
  return {value, [&target](const std::string& given, const std::string&) { target = given; }};
}

OptionValue list(const std::string& value, std::vector<std::string>& target) {
  const auto set = [&target](const std::string& given, const std::string&) {
    for (std::string& word : split(given, ',')) target.push_back(std::move(word));
  };
  return {.value = value, .set = set, .several = true};
}

OptionValue words(const std::string& value, std::vector<std::string>& target) {
  const auto set = [&target](const std::string& given, const std::string&) { target.push_back(given); };
  return {.value = value, .set = set, .several = true};
}

OptionValue one_of(std::string& target, std::initializer_list<const char*> choices) {
  OptionValue value{"WORD", {}, {choices.begin(), choices.end()}};
  value.set = [&target, words = value.choices](const std::string& given, const std::string& option) {
    if (!contains(words, given)) refuse_word(given, option, words);
    target = given;
  };
  return value;
}

OptionValue chart_size(ChartOptions& chart) {
  return {"WxH", [&chart](const std::string& given, const std::string& option) {
            constexpr int kLeastWidth = 320, kLeastHeight = 240, kMostWidth = 7680, kMostHeight = 4320;
            const std::size_t cross = std::min(given.find('x'), given.size());
            const auto width = parsed_number<int>(std::string_view(given).substr(0, cross));
            const auto height = parsed_number<int>(std::string_view(given).substr(std::min(cross + 1, given.size())));
            if (!width || !height || *width < kLeastWidth || *width > kMostWidth || *height < kLeastHeight ||
                *height > kMostHeight) {
              throw UsageError(fmt::format("{} {}: expected WIDTHxHEIGHT in pixels, from {}x{} to {}x{}", option, given,
                                           kLeastWidth, kLeastHeight, kMostWidth, kMostHeight),
                               "for example: --size 1600x900");
            }
            chart.width = *width;
            chart.height = *height;
          }};
}

double parse_percentage(const std::string& text, const std::string& option) {
  constexpr double kMost = 1000;
  std::string digits = text;
  if (digits.ends_with('%')) digits.pop_back();
  while (digits.ends_with(' ')) digits.pop_back();
  const std::optional<double> value = parsed_number<double>(digits);
  if (!value || !(*value >= 0 && *value <= kMost)) {
    throw UsageError(fmt::format("{} {}: expected a percentage from 0 to 1000", option, text),
                     fmt::format("for example: {} 3%", option));
  }
  return *value / 100;
}

double parse_number(const std::string& text, const std::string& option, double least, double most, bool whole) {
  const std::optional<double> value = parsed_number<double>(text);
  if (!value || !(*value >= least && *value <= most) || (whole && !parsed_number<std::int64_t>(text))) {
    throw UsageError(fmt::format("{} {}: expected a {} from {} to {}", option, text, whole ? "whole number" : "number",
                                 least, most));
  }
  return *value;
}

namespace {
/// As a user writes it: "100ms", "60s", "24h".
std::string duration_word(double seconds) {
  constexpr double kHour = 3600;
  if (seconds >= kHour) return fmt::format("{:g}h", seconds / kHour);
  return seconds > 0 && seconds < 1 ? fmt::format("{:g}ms", seconds * 1e3) : fmt::format("{:g}s", seconds);
}
}  // namespace

double parse_duration(const std::string& text, const std::string& option, double least, double most) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1e-3}, {"min", 60}, {"s", 1},
                                                                   {"m", 60},    {"h", 3600}, {"", 1}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const std::optional<double> value =
        parsed_number<double>(std::string_view(text).substr(0, text.size() - unit.size()));
    if (value && *value * seconds >= least && *value * seconds <= most) return *value * seconds;
    break;
  }
  throw UsageError(
      fmt::format("{} {}: expected a duration from {} to {}", option, text, duration_word(least), duration_word(most)),
      fmt::format("for example: {} 5s, {} 500ms, {} 2min", option, option, option));
}

std::string nearest_hint(const std::string& given, const std::vector<std::string>& names, const std::string& help) {
  const std::string near = nearest_name(given, names);
  return near.empty() ? fmt::format("see: {}", help) : fmt::format("did you mean '{}'? (see: {})", near, help);
}

void refuse_word(const std::string& text, const std::string& option, const std::vector<std::string>& choices) {
  const std::vector<std::string> first(choices.begin(), choices.end() - 1);
  throw UsageError(fmt::format("{} {}: expected {} or {}", option, text, fmt::join(first, ", "), choices.back()));
}

}  // namespace roofline
