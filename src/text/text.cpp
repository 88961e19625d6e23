// UTF-8 decoding and character widths, as far as names of kernels and devices need them. No normalisation, no
// grapheme clusters.
#include "text/text.hpp"

#include <fnmatch.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "text/parse.hpp"

namespace roofline {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementUtf8 = "\uFFFD";

/// Decodes one code point strictly: overlong forms, surrogates and stray bytes give the replacement character, with
/// the number of bytes to skip.
CodePoint decode(std::string_view text) {
  if (text.empty()) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {kReplacement, 1};
  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xC0u) != 0x80) return {kReplacement, i};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  static constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
    return {kReplacement, length};
  }
  return {value, length};
}

// The last two are no characters, and no XML.
bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xFFFE || c == 0xFFFF; }

bool turns_direction(char32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
}

bool is_space(char32_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029; }

struct Range {
  char32_t first;
  char32_t last;
};

bool within(char32_t c, const Range* begin, const Range* end) {
  return std::any_of(begin, end, [c](const Range& range) { return c >= range.first && c <= range.last; });
}

int width_of(char32_t c) {
  static constexpr std::array<Range, 8> kZero = {{{0x0300, 0x036F},
                                                  {0x0591, 0x05BD},
                                                  {0x064B, 0x065F},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x200B, 0x200F},
                                                  {0x2060, 0x2064},
                                                  {0x20D0, 0x20FF},
                                                  {0xFE00, 0xFE0F}}};
  static constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115F},
                                                  {0x2E80, 0x303E},
                                                  {0x3041, 0xA4CF},
                                                  {0xAC00, 0xD7A3},
                                                  {0xF900, 0xFAFF},
                                                  {0xFE30, 0xFE6F},
                                                  {0xFF00, 0xFF60},
                                                  {0x1F300, 0x1FAFF},
                                                  {0x20000, 0x3FFFD}}};
  if (within(c, kZero.data(), kZero.data() + kZero.size())) return 0;
  return within(c, kWide.data(), kWide.data() + kWide.size()) ? 2 : 1;
}

}  // namespace

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string_view last_path_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

CodePoint next_code_point(std::string_view text) { return decode(text); }

std::string clean(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const bool kept = point.value == '\n' || point.value == '\t';
    if (point.value == kReplacement || (is_control(point.value) && !kept)) {
      result += kReplacementUtf8;
    } else if (!turns_direction(point.value)) {
      result += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return result;
}

std::string escape_controls(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  while (!json.empty()) {
    const CodePoint point = decode(json);
    // Line feeds stand between values: in strings the writer has escaped them.
    if (point.value != '\n' && (is_control(point.value) || turns_direction(point.value))) {
      result += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point.value));
    } else {
      result += json.substr(0, point.bytes);
    }
    json.remove_prefix(point.bytes);
  }
  return result;
}

std::string clean_line(std::string_view text) {
  std::string result;
  bool space = false;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (is_space(point.value)) {
      space = !result.empty();
    } else if (!turns_direction(point.value)) {
      if (space) result += ' ';
      space = false;
      result += clean(text.substr(0, point.bytes));
    }
    text.remove_prefix(point.bytes);
  }
  return result;
}

std::vector<std::string> clean_lines(std::string_view text, std::size_t most) {
  std::vector<std::string> lines;
  std::size_t left_out = 0;
  std::size_t at = 0;
  do {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view rest = text.substr(at, end - at);
    at = end + 1;
    if (lines.size() == most && ++left_out > 0) continue;
    std::string& line = lines.emplace_back();
    for (CodePoint point; !rest.empty(); rest.remove_prefix(point.bytes)) {
      point = decode(rest);
      if (point.value == '\r') continue;
      line += is_space(point.value) ? " " : clean(rest.substr(0, point.bytes));
    }
    line.erase(line.find_last_not_of(' ') + 1);
  } while (at < text.size());
  if (left_out > 0) lines.push_back(fmt::format("[{} more lines]", left_out));
  return lines;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    width += width_of(point.value);
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string shorten(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns <= 1) return columns == 1 ? "\u2026" : "";
  std::vector<std::string_view> points;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(points.back().size())) {
    points.push_back(rest.substr(0, decode(rest).bytes));
  }
  int left = columns - 1;  // columns still free beside the ellipsis
  int head_budget = (columns - 1 + 1) / 2;
  std::string head;
  std::size_t first = 0;
  for (; first < points.size() && display_width(points[first]) <= head_budget; ++first) {
    head += points[first];
    head_budget -= display_width(points[first]);
    left -= display_width(points[first]);
  }
  std::size_t last = points.size();
  while (last > first && display_width(points[last - 1]) <= left) {
    left -= display_width(points[--last]);
  }
  std::string result = head + "\u2026";
  for (; last < points.size(); ++last) result += points[last];
  return result;
}

namespace {

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> all;
  for (; !text.empty(); text.remove_prefix(all.back().size())) all.push_back(text.substr(0, decode(text).bytes));
  return all;
}

/// The first `head` columns, "…" and the last ones; at most `columns`.
std::string cut_at(std::string_view text, int head, int columns) {
  const std::vector<std::string_view> all = characters(text);
  std::string front, back;
  std::size_t first = 0, last = all.size();
  int used = 0;
  for (; first < all.size() && used + display_width(all[first]) <= head; ++first) {
    front += all[first];
    used += display_width(all[first]);
  }
  for (int left = columns - 1 - used; last > first && display_width(all[last - 1]) <= left;) {
    left -= display_width(all[--last]);
  }
  for (std::size_t i = last; i < all.size(); ++i) back += all[i];
  return front + "\u2026" + back;
}

using Shortened = std::map<std::string, std::string>;  ///< by the whole text

bool are_apart(const Shortened& texts) {
  std::set<std::string_view> seen;
  return std::ranges::all_of(texts, [&](const auto& text) { return seen.insert(text.second).second; });
}

/// True if no word of `text` reaches over the end of its first `head` columns.
bool is_word_end(std::string_view text, int head) {
  const auto end = static_cast<std::size_t>(head);
  return end == 0 || end >= text.size() || text[end] == ' ' || text[end - 1] == ' ';
}

/// The ellipsis at another place than the middle: the nearest to it, if possible behind a word.
bool cut_elsewhere(Shortened& texts, int columns) {
  Shortened cut = texts;
  const int middle = columns / 2;
  for (const bool any_place : {false, true}) {
    for (int away = 1; away < columns; ++away) {
      for (const int head : {middle + away, middle - away}) {
        if (head < 0 || head > columns - 1) continue;
        const bool fits = std::ranges::all_of(texts, [&](const auto& text) { return is_word_end(text.first, head); });
        if (!fits && !any_place) continue;
        for (auto& [whole, text] : cut) text = cut_at(whole, head, columns);
        if (are_apart(cut)) {
          texts = cut;
          return true;
        }
      }
    }
  }
  return false;
}

/// Lengths of what all texts begin and end with, in whole words.
std::pair<std::size_t, std::size_t> common_ends(const Shortened& texts) {
  const std::string& first = texts.begin()->first;
  std::size_t begin = first.size(), end = first.size();
  for (const auto& [whole, text] : texts) {
    const auto [a, b] = std::mismatch(first.begin(), first.end(), whole.begin(), whole.end());
    begin = std::min(begin, static_cast<std::size_t>(a - first.begin()));
    const auto [c, d] = std::mismatch(first.rbegin(), first.rend(), whole.rbegin(), whole.rend());
    end = std::min(end, static_cast<std::size_t>(c - first.rbegin()));
  }
  std::size_t shortest = first.size();
  for (const auto& [whole, text] : texts) shortest = std::min(shortest, whole.size());
  end = std::min(end, shortest - std::min(begin, shortest));
  const std::size_t space = first.substr(0, begin).rfind(' ');
  begin = space == std::string::npos ? 0 : space + 1;
  const std::size_t word = first.find(' ', first.size() - end);
  end = word == std::string::npos ? 0 : first.size() - word;
  return {begin, end};
}

/// Texts that shorten() makes equal.
void move_apart(Shortened& texts, int columns) {
  if (cut_elsewhere(texts, columns)) return;
  const auto [begin, end] = common_ends(texts);
  if (begin + end == 0) return;
  std::vector<std::string> middles;
  for (const auto& [whole, text] : texts) middles.push_back(whole.substr(begin, whole.size() - begin - end));
  const int ends = (begin > 0 ? 1 : 0) + (end > 0 ? 1 : 0);
  middles = shorten_apart(middles, columns - ends);
  std::size_t i = 0;
  for (auto& [whole, text] : texts) {
    const std::string_view front = std::string_view(whole).substr(0, begin);
    const std::string_view back = std::string_view(whole).substr(whole.size() - end);
    const std::string& middle = middles[i++];
    const int room = columns - display_width(middle);
    const int behind = end == 0 ? 0 : std::min(display_width(back), std::max(1, begin == 0 ? room : room / 3));
    text = shorten(front, room - behind) + middle + shorten(back, behind);
  }
}

}  // namespace

std::vector<std::string> shorten_apart(const std::vector<std::string>& texts, int columns) {
  std::map<std::string, Shortened> groups;  // by their common shortened text
  for (const std::string& text : texts) {
    const std::string cut = shorten(text, columns);
    groups[cut].emplace(text, cut);
  }
  Shortened all;
  std::set<std::string> used;
  for (auto& [cut, group] : groups) {
    if (group.size() > 1 && columns > 2) move_apart(group, columns);
    for (const auto& [whole, text] : group) {
      std::string distinct = text;
      // What cannot be told apart in so little room is numbered.
      for (int n = 2; !used.insert(distinct).second; ++n) {
        const std::string number = std::to_string(n);
        const int room = columns - static_cast<int>(number.size());
        if (room < 1) break;
        distinct = shorten(text, room) + number;
      }
      all[whole] = distinct;
    }
  }
  std::vector<std::string> shortened;
  for (const std::string& text : texts) shortened.push_back(all.at(text));
  return shortened;
}

std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (CodePoint point; !text.empty(); text.remove_prefix(point.bytes)) {
    point = decode(text);
    points += point.value;
  }
  return points;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool matches_glob(const std::string& text, std::string_view glob) {
  std::string pattern;
  for (const char c : glob) pattern += c == '*' || c == '?' ? std::string{c} : std::string{'\\', c};
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return upper;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
  }
  return parts;
}

std::string escape_xml(std::string_view text) {
  static constexpr std::string_view kSpecial = "&<>\"'";
  static constexpr std::array<std::string_view, 5> kEntities = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const std::size_t special = kSpecial.find(c);
    escaped += special == kSpecial.npos ? std::string_view(&c, 1) : kEntities.at(special);
  }
  return escaped;
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

void append_utf8(std::string& text, char32_t point) {
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | (point >> shift & 0x3fU)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0U | point >> 6U);
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0U | point >> 12U);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | point >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace roofline
