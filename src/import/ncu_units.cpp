#include "import/ncu_units.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "text/parse.hpp"

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

/// Of a time in ns.
std::optional<double> time_scale(std::string_view word) {
  static constexpr std::pair<std::string_view, double> kTimes[] = {
      {"ns", 1},   {"nsecond", 1},   {"us", 1e3}, {"usecond", 1e3}, {"\u00b5s", 1e3},
      {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9},  {"sec", 1e9},     {"second", 1e9}};
  for (const auto& [name, scale] : kTimes) {
    if (word == name) return scale;
  }
  return std::nullopt;
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

void NcuNumbers::learn(std::string_view text) {
  const std::size_t point = text.find('.'), comma = text.find(',');
  if (text.empty() || text.find_first_not_of("+-0123456789., \u00a0\u202fe") != std::string_view::npos) return;
  if (point != std::string_view::npos && comma != std::string_view::npos) {
    ++(text.rfind('.') > text.rfind(',') ? point_ : comma_);
    return;
  }
  const auto decides = [text](char sign) {
    const std::size_t first = text.find(sign), last = text.rfind(sign);
    if (first == std::string_view::npos || first != last) return 0;
    // Three digits behind it could be thousands, but not after a leading zero or more than three before it.
    const std::size_t behind = text.size() - last - 1;
    const std::size_t before = last - (text[0] == '-' ? 1 : 0);
    return behind != 3 || before == 0 || before > 3 || text[0] == '0' ? 1 : 0;
  };
  point_ += decides('.');
  comma_ += decides(',');
}

std::optional<double> NcuNumbers::read(std::string_view text) const {
  const char decimal = comma_ > point_ ? ',' : '.';
  const char thousands = decimal == '.' ? ',' : '.';
  std::string plain;
  for (const char character : text) {
    if (character == decimal) plain += '.';
    const bool digit = (character >= '0' && character <= '9') || character == '-' || character == 'e' ||
                       character == 'E' || character == '+';
    if (digit) plain += character;
    const bool space = character == ' ' || static_cast<unsigned char>(character) >= 0x80;  // no-break spaces
    if (!digit && character != decimal && character != thousands && character != '\'' && !space) return std::nullopt;
  }
  const std::optional<double> value = parsed_number<double>(plain);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace roofline
