#include "import/ncu_units.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "text/parse.hpp"
#include "text/parts.hpp"

namespace roofline {
namespace {

std::optional<double> prefix_of(std::string_view& word) {
  static constexpr std::pair<std::string_view, double> kPrefixes[] = {
      {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"K", 1e3}, {"k", 1e3},
      {"M", 1e6},     {"G", 1e9},        {"T", 1e12},          {"P", 1e15}};
  for (const auto& [prefix, scale] : kPrefixes) {
    if (word.starts_with(prefix) && word.size() > prefix.size()) {
      word.remove_prefix(prefix.size());
      return scale;
    }
  }
  return std::nullopt;
}

bool is_plain(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "byte",      "bytes",      "inst",  "sector", "sectors", "cycle",  "cycles",  "hz",
      "Hz",        "warp",       "warps", "thread", "threads", "block",  "blocks",  "register",
      "request",   "requests",   "pass",  "flop",   "op",      "ops",    "cluster", "SM",
      "wavefront", "wavefronts", "bit",   "%",      "",        "second", "s"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

/// Scale of a time unit, to ns.
std::optional<double> time_scale(std::string_view word) {
  static constexpr std::pair<std::string_view, double> kTimes[] = {
      {"ns", 1},   {"nsecond", 1},   {"us", 1e3}, {"usecond", 1e3}, {"\u00b5s", 1e3},
      {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9},  {"sec", 1e9},     {"second", 1e9}};
  for (const auto& [name, scale] : kTimes) {
    if (word == name) return scale;
  }
  return std::nullopt;
}

/// Without spaces around it and without the values of instances behind it: "4,096 (1: 2,048; 2: 2,048)".
std::string_view number_text(std::string_view text) {
  if (!text.starts_with('(')) text = text.substr(0, text.find(" ("));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The form of a number's digits and of the signs between them.
struct Grouped {
  bool valid = false;
  char last = 0;              ///< its last '.' or ','; 0: none
  bool is_thousands = false;  ///< that sign stands between thousands
  bool open = false;          ///< it may be either
};

/// A sign between digits: spaces (no-break ones have several bytes) and apostrophes are written as ' '.
struct Sign {
  char sign = 0;
  std::size_t before = 0;  ///< digits before it, since the sign before
};

/// The signs of the digits, and how many digits stand behind the last one; std::nullopt if there is anything else.
std::optional<std::pair<std::vector<Sign>, std::size_t>> signs_between(std::string_view digits) {
  std::vector<Sign> signs;
  std::size_t run = 0;
  bool in_space = false, any = false;
  for (const char character : digits) {
    const bool space = character == ' ' || character == '\'' || static_cast<unsigned char>(character) >= 0x80;
    if (is_digit(character)) {
      ++run;
      any = true;
    } else if (character == '.' || character == ',' || space) {
      constexpr std::size_t kMost = 64;
      if (signs.size() >= kMost) return std::nullopt;
      if (!space || !in_space) signs.push_back({space ? ' ' : character, run});
      run = 0;
    } else {
      return std::nullopt;
    }
    in_space = space;
  }
  if (!any) return std::nullopt;
  return std::pair(std::move(signs), run);
}

/// Groups of thousands before the sign `end`: three digits each, but the first, and those of a lakh.
bool are_thousands(const std::vector<Sign>& signs, std::size_t end, std::size_t last) {
  for (std::size_t i = 0; i < end; ++i) {
    const std::size_t digits = signs[i].before;
    if (signs[i].sign != signs[0].sign || digits == 0 || digits > 3 || (i > 0 && digits < 2)) return false;
  }
  return end == 0 || last == 3;
}

Grouped grouped(std::string_view text) {
  text = number_text(text);
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (!power.empty() && (power.front() == '-' || power.front() == '+')) power.remove_prefix(1);
    if (power.empty() || !std::all_of(power.begin(), power.end(), is_digit)) return {};
    text = text.substr(0, exponent);
  }
  const auto found = signs_between(text);
  if (!found) return {};
  const auto& [signs, behind] = *found;
  if (signs.empty()) return {.valid = true};
  const std::size_t end = signs.size() - 1;
  const char last = signs[end].sign;
  const bool repeated = end > 0 && signs[0].sign == last;
  if (repeated || last == ' ') {
    const bool valid = are_thousands(signs, signs.size(), behind);
    return {.valid = valid, .last = last == ' ' ? '\0' : last, .is_thousands = true};
  }
  if (!are_thousands(signs, end, signs[end].before)) return {};
  // One sign with three digits behind it: thousands, or decimals of which there happen to be three.
  const bool open = end == 0 && exponent == std::string_view::npos && behind == 3 && signs[0].before > 0 &&
                    signs[0].before <= 3 && text.front() != '0';
  return {.valid = true, .last = last, .open = open};
}

}  // namespace

std::optional<double> ncu_unit_scale(std::string_view unit) {
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  while (!unit.empty() && unit.back() == ' ') unit.remove_suffix(1);
  const std::size_t slash = unit.find('/');
  std::string_view above = unit.substr(0, slash);
  if (slash == std::string_view::npos) {
    if (const auto time = time_scale(above)) return time;
  }
  double scale = 1;
  if (!is_plain(above) && above != "1") {
    const auto prefix = prefix_of(above);
    if (!prefix || !is_plain(above)) return std::nullopt;
    scale = *prefix;
  }
  if (slash == std::string_view::npos) return scale;
  // Rates are per second: "cycle/nsecond" is a gigahertz. What is per block or per cycle stays so.
  constexpr double kNanosecond = 1e9;
  if (const auto time = time_scale(unit.substr(slash + 1))) return scale * kNanosecond / *time;
  return scale;
}

bool ncu_metric_needs_unit(std::string_view metric) {
  const auto has = [&](std::string_view part) { return metric.find(part) != std::string_view::npos; };
  return has("__time") || (has("bytes") && !has("bytes_per_sector"));  // at most a few hundred: never scaled
}

NumberSigns signs_of(std::string_view text) {
  const Grouped number = grouped(text);
  if (!number.valid) return NumberSigns::not_a_number;
  switch (number.last) {
    case '.':
      return number.open ? NumberSigns::point_or_thousands
                         : (number.is_thousands ? NumberSigns::decimal_comma : NumberSigns::decimal_point);
    case ',':
      return number.open ? NumberSigns::comma_or_thousands
                         : (number.is_thousands ? NumberSigns::decimal_point : NumberSigns::decimal_comma);
    default:
      return NumberSigns::none;
  }
}

void NcuNumbers::learn(std::string_view text, CellPlace place, bool counts) {
  const NumberSigns signs = signs_of(text);
  const bool thousands = counts && signs == NumberSigns::comma_or_thousands;
  if ((signs == NumberSigns::decimal_point || thousands) && !with_point_) with_point_ = place;
  if (signs == NumberSigns::decimal_comma && !with_comma_) with_comma_ = place;
}

NcuNumbers::Reading NcuNumbers::parse(std::string_view text) const {
  const NumberSigns signs = signs_of(text);
  if (signs == NumberSigns::not_a_number) return {0, Status::not_a_number};
  char decimal = signs == NumberSigns::decimal_comma ? ',' : '.';
  if (signs == NumberSigns::point_or_thousands || signs == NumberSigns::comma_or_thousands) {
    if (with_point_ && with_comma_) return {0, Status::contradictory};
    if (!with_point_ && !with_comma_) return {0, Status::undecided};
    decimal = with_comma_ ? ',' : '.';
  }
  std::string plain;
  for (const char character : number_text(text)) {
    if (character == decimal) plain += '.';
    if (is_digit(character) || character == '-' || character == 'e' || character == 'E') plain += character;
  }
  const std::optional<double> value = parsed_number<double>(plain);
  return value && std::isfinite(*value) ? Reading{*value, Status::ok} : Reading{0, Status::not_a_number};
}

std::optional<double> NcuNumbers::read(std::string_view text) const {
  const Reading reading = parse(text);
  return reading.status == Status::ok ? std::optional(reading.value) : std::nullopt;
}

bool is_absent(std::string_view text) {
  static constexpr std::string_view kWords[] = {"",     "n/a",     "(!) n/a", "no data", "nan",
                                                "-nan", "(!) nan", "NaN",     "N/A"};
  return std::find(std::begin(kWords), std::end(kWords), number_text(text)) != std::end(kWords);
}

}  // namespace roofline
