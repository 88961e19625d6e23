// UTF-8 decoding after the Unicode standard's table 3-7 (no overlong forms, no surrogates).
#include "report/chart/text.hpp"

#include <cstdint>

namespace roofline {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kEllipsis = 0x2026;

struct Sequence {
  char32_t character;
  std::size_t length;
};

Sequence next_character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  char32_t value = 0, smallest = 0;
  if ((lead & 0xE0) == 0xC0) {
    length = 2, value = lead & 0x1F, smallest = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3, value = lead & 0x0F, smallest = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4, value = lead & 0x07, smallest = 0x10000;
  }
  if (length == 0 || at + length > text.size()) return {kReplacement, 1};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kReplacement, 1};
    value = value << 6 | (byte(i) & 0x3F);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest || surrogate || value > 0x10FFFF) return {kReplacement, 1};
  return {value, length};
}

bool is_space(char32_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029; }
bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xFFFE || c == 0xFFFF; }
bool is_direction_mark(char32_t c) {
  return c == 0x200E || c == 0x200F || c == 0x061C || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const Sequence s = next_character(text, at);
    out += s.character;
    at += s.length;
  }
  return out;
}

std::string encode_utf8(std::u32string_view text) {
  std::string out;
  const auto tail = [&out](char32_t c, int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  for (const char32_t c : text) {
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xC0 | c >> 6), tail(c, 0);
    } else if (c < 0x10000) {
      out += static_cast<char>(0xE0 | c >> 12), tail(c, 6), tail(c, 0);
    } else {
      out += static_cast<char>(0xF0 | c >> 18), tail(c, 12), tail(c, 6), tail(c, 0);
    }
  }
  return out;
}

std::string clean_text(std::string_view text) {
  std::u32string out;
  for (const char32_t c : decode_utf8(text)) {
    if (is_direction_mark(c)) continue;
    if (is_space(c)) {
      if (!out.empty() && out.back() != ' ') out += U' ';
    } else {
      out += is_control(c) ? kReplacement : c;
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return encode_utf8(out);
}

std::string shorten_middle(std::string_view text, std::size_t limit) {
  const std::u32string all = decode_utf8(text);
  if (all.size() <= limit || limit < 3) return encode_utf8(all.substr(0, limit));
  const std::size_t tail = (limit - 1) / 2;
  const std::size_t head = limit - 1 - tail;
  return encode_utf8(all.substr(0, head) + kEllipsis + all.substr(all.size() - tail));
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace roofline
