// Formatting of numbers. Works on the decimal digits of the rounded value, so that 999.6 carries into the next
// prefix ("1 k", not "1000").
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace roofline {
namespace {

/// value = 0.d1d2d3… × 10^(exponent + 1), rounded to that many digits.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Decimal decimal(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", std::abs(value), std::max(digits, 1) - 1);
  const std::size_t e = text.find('e');
  Decimal result;
  result.negative = std::signbit(value) && value != 0;
  for (const char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  result.exponent = std::atoi(text.c_str() + e + 1);
  return result;
}

/// The digits with the decimal point for 10^(decimal.exponent - shift).
std::string place_point(const Decimal& decimal, int shift) {
  std::string digits = decimal.digits;
  int point = decimal.exponent - shift + 1;  // digits before the point
  if (point <= 0) {
    digits.insert(0, static_cast<std::size_t>(1 - point), '0');
    point = 1;
  }
  if (point > static_cast<int>(digits.size())) digits.append(static_cast<std::size_t>(point) - digits.size(), '0');
  std::string whole = digits.substr(0, static_cast<std::size_t>(point));
  std::string rest = digits.substr(static_cast<std::size_t>(point));
  rest.erase(rest.find_last_not_of('0') + 1);
  return (decimal.negative ? "-" : "") + whole + (rest.empty() ? "" : "." + rest);
}

/// NaN and infinities have no digits.
const char* without_digits(double value) {
  if (std::isnan(value)) return kAbsent;
  return value > 0 ? "\u221e" : "-\u221e";
}

std::string with_prefix(double value, std::string_view unit, int digits, bool space_always) {
  if (!std::isfinite(value)) return std::isnan(value) ? kAbsent : fmt::format("{} {}", without_digits(value), unit);
  static constexpr std::array<std::string_view, 11> kPrefixes = {"p", "n", "\u00b5", "m", "", "k",
                                                                 "M", "G", "T",      "P", "E"};
  const Decimal rounded = decimal(value, digits);
  const int thousands = value == 0 ? 0 : std::clamp(static_cast<int>(std::floor(rounded.exponent / 3.0)), -4, 6);
  const std::string_view prefix = kPrefixes[static_cast<std::size_t>(thousands + 4)];
  const std::string text = place_point(rounded, thousands * 3);
  if (prefix.empty() && unit.empty()) return text;
  return fmt::format("{} {}{}{}", text, prefix, space_always && !prefix.empty() ? " " : "", unit);
}

}  // namespace

std::string number(double value, int digits) {
  if (!std::isfinite(value)) return without_digits(value);
  const double magnitude = std::abs(value);
  if (value != 0 && (magnitude >= 1e15 || magnitude < 1e-6)) return fmt::format("{:.{}g}", value, digits);
  return place_point(decimal(value, digits), 0);
}

std::string si(double value, std::string_view unit, int digits) { return with_prefix(value, unit, digits, false); }

std::string rate(double value, CeilingKind kind, int digits) {
  static constexpr std::array kUnits = {"B/s", "FLOP/s", "launches/s", "accesses/s"};  // by the kind
  const bool in_words = kind == CeilingKind::overhead || kind == CeilingKind::latency;
  return with_prefix(value, kUnits.at(static_cast<std::size_t>(kind)), digits, in_words);
}

std::string_view unit_of(Pipe pipe) {
  const bool flops = pipe != Pipe::int32 && pipe != Pipe::int8 && pipe != Pipe::sfu && pipe != Pipe::tensor_int8;
  return flops ? "FLOP/s" : "OP/s";
}

std::string ceiling_value(const Ceiling& ceiling) { return ceiling_value(ceiling.value, ceiling.kind, ceiling.pipe); }

std::string ceiling_value(double value, CeilingKind kind, std::optional<Pipe> pipe) {
  const bool quoted_as_time = kind == CeilingKind::latency || kind == CeilingKind::overhead;
  if (kind == CeilingKind::compute && pipe) return si(value, unit_of(*pipe));
  return quoted_as_time ? duration(1 / value) : rate(value, kind);
}

std::string ceiling_label(std::string_view name, Regime regime) {
  return regime == Regime::burst ? std::string(name) : fmt::format("{} ({})", name, to_string(regime));
}

std::string ceiling_label(const Ceiling& ceiling) { return ceiling_label(ceiling.name, ceiling.regime); }

std::string energy(const Ceiling& ceiling) {
  static constexpr std::array kUnits = {"J/B", "J/FLOP", "J/launch", "J/access"};  // by the kind
  if (!ceiling.power.joules_per_unit) return {};
  const bool integers = ceiling.kind == CeilingKind::compute && ceiling.pipe && unit_of(*ceiling.pipe) == "OP/s";
  return si(*ceiling.power.joules_per_unit, integers ? "J/OP" : kUnits.at(static_cast<std::size_t>(ceiling.kind)));
}

std::string duration_or_absent(double seconds) { return seconds > 0 ? duration(seconds) : kAbsent; }

std::string duration(double seconds) {
  if (!(std::abs(seconds) >= 59.95) || std::isinf(seconds)) return si(seconds, "s");
  const double whole = std::round(seconds);
  const double minutes = std::floor(whole / 60);
  if (minutes < 60) return fmt::format("{:.0f} min {:.0f} s", minutes, whole - 60 * minutes);
  return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / 60), std::fmod(minutes, 60));
}

std::string binary_bytes(double bytes) {
  if (!std::isfinite(bytes)) return without_digits(bytes);
  static constexpr std::array<std::string_view, 7> kPrefixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t prefix = 0;
  // 1023.5 would round to "1024 KiB".
  while (std::abs(bytes) >= 1023.5 && prefix + 1 < kPrefixes.size()) {
    bytes /= 1024;
    ++prefix;
  }
  return fmt::format("{} {}B", number(bytes, std::abs(bytes) >= 1000 ? 4 : 3), kPrefixes[prefix]);
}

std::string intensity(double flop_per_byte) {
  if (!std::isfinite(flop_per_byte)) return without_digits(flop_per_byte);
  if (std::abs(flop_per_byte) < 100) return number(flop_per_byte, 4);
  if (std::abs(flop_per_byte) >= 1e6) return si(flop_per_byte, "", 4);
  const int whole_digits = static_cast<int>(std::floor(std::log10(std::abs(flop_per_byte)))) + 1;
  return number(flop_per_byte, whole_digits + 1);
}

std::string percent(double fraction) {
  const double value = 100 * fraction;
  if (!std::isfinite(value)) return without_digits(value);
  if (std::abs(value) >= 1000) return fmt::format("{:.0f} %", value);
  // Tables show tenths of a per cent, but 0.04 % is not 0.0 %.
  if (value != 0 && std::abs(value) < 0.1) return number(value, 1) + " %";
  return fmt::format("{:.1f} %", value);
}

std::string plus_minus(double value, const Interval& interval) {
  const double half = 50 * (interval.high - interval.low) / std::abs(value);
  if (!std::isfinite(half)) return kAbsent;
  if (half < 0.05) return "<\u00b10.1 %";
  return fmt::format("\u00b1{} %", half < 10 ? fmt::format("{:.1f}", half) : number(half, 3));
}

std::string factor(double value) {
  if (!std::isfinite(value)) return without_digits(value);
  const double magnitude = std::abs(value);
  return number(value, magnitude >= 100 || magnitude < 10 ? (magnitude < 1.1 ? 3 : 2) : 3) + "\u00d7";
}

std::string count(std::int64_t value) {
  std::string text = fmt::format("{}", value);
  const int first = text.front() == '-' ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > first; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string counted_noun(std::int64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count(n), n == 1 ? one : many);
}

}  // namespace roofline
