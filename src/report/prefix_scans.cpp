#include "report/prefix_scans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "report/host_cause_text.hpp"
#include "report/python_work.hpp"
#include "report/source_lines.hpp"
#include "text/format.hpp"
#include "text/parts.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr auto kNowhere = std::string_view::npos;

/// The names in an expression, without casts: "token", "start" of "token.start as usize".
std::vector<std::string> variables_of(std::string_view expression) {
  static constexpr auto kCasts =
      std::to_array<std::string_view>({"as", "usize", "self", "this", "int", "size_t", "try_into", "unwrap", "from",
                                       "std", "static_cast", "ptrdiff_t"});
  std::vector<std::string> names;
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t end = at;
    while (end < expression.size() && is_of_name(expression[end])) ++end;
    const std::string_view name = expression.substr(at, end - at);
    const bool number = !name.empty() && is_digit(name.front());
    if (!name.empty() && !number && std::ranges::find(kCasts, name) == kCasts.end()) names.push_back(lower_case(name));
    at = std::max(end, at + 1);
  }
  return names;
}

bool is_or_ends(std::string_view name, std::string_view word) {
  return name == word ||
         (name.ends_with(word) && name.size() > word.size() && name[name.size() - word.size() - 1] == '_');
}

/// A length or an amount: what is up to it is all there is.
bool is_amount(std::string_view name) {
  static constexpr auto kAmounts = std::to_array<std::string_view>(
      {"n",     "m",     "len",  "length", "size", "count",    "num",    "limit", "max",
       "min",   "width", "read", "nread",  "got",  "received", "filled", "used",  "bytes",
       "total", "k",     "end",  "last",   "half", "mid",      "strlen"});
  return std::ranges::any_of(kAmounts, [&](std::string_view word) { return is_or_ends(name, word); });
}

bool is_position(std::string_view name) {
  static constexpr auto kWords =
      std::to_array<std::string_view>({"offset", "position", "cursor", "start", "begin", "index"});
  static constexpr auto kShort = std::to_array<std::string_view>(
      {"pos", "at", "idx", "i", "off", "ofs", "loc", "location", "here", "where", "it"});
  return contains_any(name, kWords) ||
         std::ranges::any_of(kShort, [&](std::string_view word) { return is_or_ends(name, word); });
}

/// No number, constant, length or amount.
bool may_be_position(std::string_view bound) {
  bound = trimmed(bound);
  const std::vector<std::string> names = variables_of(bound);
  if (bound.empty() || bound.front() == '-' || names.empty()) return false;
  const bool constant = std::ranges::none_of(bound, [](char one) { return one >= 'a' && one <= 'z'; });
  return !constant && std::ranges::none_of(names, [](const std::string& name) { return is_amount(name); });
}

bool is_surely_position(std::string_view bound) {
  const std::vector<std::string> names = variables_of(bound);
  return may_be_position(bound) && is_position(names.back());
}

/// "text" of "let x = self.text" before a bracket.
std::string_view name_up_to(std::string_view source, std::size_t end) {
  std::size_t first = end;
  while (first > 0 && is_of_name(source[first - 1])) --first;
  return source.substr(first, end - first);
}

/// Single lines and words are short.
bool is_short(std::string_view name) {
  static constexpr auto kShort =
      std::to_array<std::string_view>({"line", "row", "word", "token", "field", "cell", "key", "name", "argv", "args"});
  const std::string lower = lower_case(name);
  return lower.empty() || std::ranges::any_of(kShort, [&](std::string_view word) { return is_or_ends(lower, word); });
}

/// The end of an expression: a bracket that closes another one, or a comma.
std::size_t end_of_part(std::string_view source, std::size_t at) {
  int depth = 0;
  for (; at < source.size(); ++at) {
    const char one = source[at];
    if (one == '(' || one == '[') ++depth;
    if ((one == ')' || one == ']') && depth-- == 0) return at;
    if (one == ',' && depth == 0) return at;
  }
  return kNowhere;
}

/// A part of a sequence from its start: "[..offset]" with what follows it.
struct Prefix {
  std::string_view of, bound, rest;
};

std::vector<Prefix> prefixes_in(std::string_view source) {
  static constexpr auto kOpen = std::to_array<std::string_view>(
      {"[..", "[0..", "[:", "[0:", ".get(..", ".substr(0, ", ".substr(0,", ".chars().take(", ".bytes().take("});
  std::vector<Prefix> found;
  for (const std::string_view open : kOpen) {
    for (std::size_t at = source.find(open); at != kNowhere; at = source.find(open, at + 1)) {
      std::size_t first = at + open.size();
      if (first < source.size() && source[first] == '=') ++first;
      const std::size_t end = end_of_part(source, first);
      if (end == kNowhere || source[end] == ',') continue;
      std::string_view of = source.substr(0, at);
      if (of.ends_with(".as_bytes()")) of.remove_suffix(std::string_view(".as_bytes()").size());
      found.push_back({name_up_to(of, of.size()), source.substr(first, end - first), source.substr(end + 1)});
    }
  }
  return found;
}

bool is_of_text(const Prefix& prefix) { return !is_short(prefix.of) && may_be_position(prefix.bound); }

/// Rust's characters, bytes, lines and matches, counted; bytes of arrays where they are compared with a character.
bool is_counted_in_rust(std::string_view source, const Prefix& prefix) {
  if (prefix.rest.find(".count()") == kNowhere) return false;
  static constexpr auto kWalks =
      std::to_array<std::string_view>({".chars()", ".bytes()", ".lines()", ".matches(", ".char_indices()", ".split(",
                                       ".split_terminator(", ".filter("});
  if (prefix.rest.starts_with(".iter()")) return prefix.rest.find("b'") != kNowhere;
  const bool taken = source.find(").take(") != kNowhere && prefix.rest.starts_with('.');
  return starts_with_any(prefix.rest, kWalks) || taken;
}

/// Python's "text[:pos].count(x)", and the lines of "text[:pos].split("\n")".
bool is_counted_in_python(const Prefix& prefix) {
  static constexpr auto kLines =
      std::to_array<std::string_view>({".count(", ".split(\"\\n\")", ".split('\\n')", ".splitlines("});
  return starts_with_any(prefix.rest, kLines);
}

/// "text.count("\n", 0, pos)".
bool counts_to_position(std::string_view source) {
  constexpr std::string_view kCount = ".count(", kFromStart = ", 0, ";
  for (std::size_t at = source.find(kCount); at != kNowhere; at = source.find(kCount, at + 1)) {
    const std::size_t value = end_of_part(source, at + kCount.size());
    if (value == kNowhere || !source.substr(value).starts_with(kFromStart)) continue;
    const std::size_t first = value + kFromStart.size(), end = end_of_part(source, first);
    if (end != kNowhere && source[end] == ')' && !is_short(name_up_to(source, at)) &&
        may_be_position(source.substr(first, end - first)))
      return true;
  }
  return false;
}

/// "std::count(s.begin(), s.begin() + pos, '\n')" and "std::count(s.data(), s.data() + pos, '\n')".
bool counts_in_cpp(std::string_view source) {
  for (const std::string_view call : {"count(", "count_if("}) {
    for (std::size_t at = source.find(call); at != kNowhere; at = source.find(call, at + 1)) {
      if (at < 2 || source.substr(at - 2, 2) != "::") continue;
      const std::size_t open = at + call.size(), comma = end_of_part(source, open);
      if (comma == kNowhere || source[comma] != ',') continue;
      const std::size_t end = end_of_part(source, comma + 1);
      if (end == kNowhere) continue;
      const std::string_view first = trimmed(source.substr(open, comma - open));
      const std::string_view last = trimmed(source.substr(comma + 1, end - comma - 1));
      static constexpr auto kStarts = std::to_array<std::string_view>({"begin()", "data()", "c_str()"});
      const bool from_start =
          std::ranges::any_of(kStarts, [&](std::string_view part) { return first.ends_with(part); });
      if (from_start && last.find_first_of("(+") == kNowhere) return is_surely_position(last);  // an iterator
      if (!last.starts_with(first)) continue;
      const std::string_view step = trimmed(last.substr(first.size()));
      if (!step.starts_with('+')) continue;
      const std::string_view bound = step.substr(1);
      if (from_start ? may_be_position(bound) : is_surely_position(bound)) return true;
    }
  }
  return false;
}

/// "count_lines(text.substr(0, pos))", "std::ranges::count(text.substr(0, pos), '\n')".
bool counts_substring(std::string_view source) {
  constexpr std::string_view kPart = ".substr(0,";
  const std::size_t part = source.find(kPart);
  return part != kNowhere && source.substr(0, part).find("count") != kNowhere &&
         std::ranges::any_of(prefixes_in(source), is_of_text);
}

std::string_view code_without_comment(std::string_view source) {
  if (source.starts_with("//") || source.starts_with('#')) return {};
  for (const std::string_view comment : {" // ", " # "}) source = source.substr(0, source.find(comment));
  return source;
}

}  // namespace

bool begins_prefix_loop(std::string_view source) {
  if (!source.starts_with("for ") && !source.starts_with("for(")) return false;
  const std::string_view over = code_without_comment(source);
  return std::ranges::any_of(prefixes_in(over), [&](const Prefix& prefix) {
    static constexpr auto kEnds = std::to_array<std::string_view>(
        {".chars()", ".bytes()", ".char_indices()", ".lines()", ".chars().rev()", ":", ")"});
    return is_of_text(prefix) && is_surely_position(prefix.bound) && starts_with_any(prefix.rest, kEnds);
  });
}

bool scans_prefix(std::string_view line) {
  const std::string_view source = code_without_comment(line);
  if (begins_prefix_loop(source)) return true;
  const auto is_counted = [&](const Prefix& prefix) {
    return is_of_text(prefix) && (is_counted_in_rust(source, prefix) || is_counted_in_python(prefix));
  };
  return std::ranges::any_of(prefixes_in(source), is_counted) || counts_to_position(source) || counts_in_cpp(source) ||
         counts_substring(source);
}

bool counts_lines_before(std::string_view header, std::string_view body) {
  static constexpr auto kCompares = std::to_array<std::string_view>({"== '\\n'", "=='\\n'", "'\\n' =="});
  if (!contains_any(body, kCompares) || !header.starts_with("for")) return false;
  const std::size_t first = header.find(';');
  const std::size_t second = first == kNowhere ? kNowhere : header.find(';', first + 1);
  if (second == kNowhere || !header.substr(0, first).ends_with(" = 0")) return false;
  const std::string_view condition = header.substr(first + 1, second - first - 1);
  const std::size_t less = condition.find('<');
  if (less == kNowhere) return false;
  const std::string_view bound = trimmed(condition.substr(condition.find_first_not_of("<= ", less)));
  return is_surely_position(bound);
}

std::optional<HostCause> prefix_scans(const HostProfile& host, double peak_bytes) {
  constexpr double kLeast = 0.25, kSecondsPerByte = 2e-9;
  const double cpu_s = host.times.on_cpu();
  double seconds = 0;
  const HostLineSum* largest = nullptr;
  for (const HostLineSum& line : host.lines) {
    if (!line.place.own || line.place.python) continue;
    const std::string_view source = line.source;
    const std::size_t note = source.find(kInLoop);
    const std::string_view text = source.substr(0, note);
    const std::string_view loop = note == kNowhere ? std::string_view() : source.substr(note + kInLoop.size());
    if (!scans_prefix(text) && !begins_prefix_loop(loop) && !counts_lines_before(loop, text)) continue;
    seconds += line.times.on_cpu();
    if (largest == nullptr || line.times.on_cpu() > largest->times.on_cpu()) largest = &line;
  }
  // One scan of all memory takes less.
  if (largest == nullptr || seconds < kLeast * cpu_s || seconds < kSecondsPerByte * peak_bytes) return std::nullopt;
  return host_cause(std::string(kPrefixScans), seconds,
                    fmt::format("{} of the CPU time {}", percent(seconds / cpu_s), kPrefixScansFinding), "mostly at",
                    short_place(largest->place), std::string(kPrefixScansAction));
}

}  // namespace roofline
