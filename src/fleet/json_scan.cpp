// Scans plain text and indentation, most of a file's bytes, 16 bytes at a time (SIMD).
#include "fleet/json_scan.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "model/error.hpp"

namespace roofline {
namespace {

using Bytes __attribute__((vector_size(16))) = signed char;
using CharBytes __attribute__((vector_size(16))) = char;

Bytes bytes_at(const char* at) {
  Bytes bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/// Number of leading zero bytes; each byte is 0 or -1.
int zeros(Bytes bytes) {
#ifdef __SSE2__
  return std::countr_zero(static_cast<unsigned>(__builtin_ia32_pmovmskb128(reinterpret_cast<CharBytes>(bytes))) |
                          0x10000);
#else
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t halves[2];
  std::memcpy(halves, &bytes, sizeof bytes);
  return halves[0] != 0 ? std::countr_zero(halves[0]) / 8 : 8 + std::countr_zero(halves[1]) / 8;
#endif
}

bool is_digit(int c) { return c >= '0' && c <= '9'; }

class JsonScan {
 public:
  JsonScan(const std::string& document, JsonTaker& taker)
      : begin_(document.data()), at_(begin_), end_(begin_ + document.size()), taker_(taker) {}

  void document();

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// 0 at the end of the document.
  int peek() const { return static_cast<unsigned char>(*at_); }
  void expect(bool right) const {
    if (!right) fail(at_ + 1);
  }
  /// `upto`: one past the first invalid byte.
  [[noreturn]] void fail(const char* upto) const {
    if (upto >= end_) throw UsageError("is truncated");
    throw UsageError(fmt::format("is not JSON from byte {} on", upto - begin_));
  }
  [[noreturn]] void fail_at_token();

  void skip_mark();
  void skip_space() {
    if (peek() <= ' ') skip_blanks();
  }
  void skip_blanks();
  void scan_word(std::string_view word);
  void scan_digits();
  void scan_number();
  double number() const;
  void scan_text();
  void scan_escape();
  unsigned scan_hex();
  void scan_wide();
  std::string_view text() const {
    return spelled_ ? std::string_view(spelling_)
                    : std::string_view(token_, static_cast<std::size_t>(at_ - 1 - token_));
  }

  bool wanted() const { return skipped_ == kNone; }
  void open(bool object);
  void close();
  void begin_member();
  void scan_value();

  const char* begin_;
  const char* at_;
  const char* end_;
  JsonTaker& taker_;
  const char* token_ = nullptr;  ///< where its text or number begins
  bool whole_ = false;           ///< the number has neither fraction nor exponent
  bool spelled_ = false;         ///< the string has escapes; `spelling_` is its decoded form
  std::string spelling_;
  std::vector<char> open_;       ///< open objects (true) and arrays (false)
  std::size_t skipped_ = kNone;  ///< nesting depth of the member that is skipped; kNone outside one
};

/// Byte order mark, which some editors write.
void JsonScan::skip_mark() {
  if (peek() != 0xEF) return;
  for (const int byte : {0xEF, 0xBB, 0xBF}) {
    expect(peek() == byte);
    ++at_;
  }
}

/// Typically one space, or a line feed and up to 20 spaces.
void JsonScan::skip_blanks() {
  const char* at = at_;
  while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') {
    ++at;
    if (*at > ' ') break;
    while (end_ - at >= 16) {
      const int blanks = zeros(bytes_at(at) != ' ');
      at += blanks;
      if (blanks < 16) break;
    }
  }
  at_ = at;
}

void JsonScan::scan_word(std::string_view word) {
  for (const char c : word) {
    expect(*at_ == c);
    ++at_;
  }
}

/// The token is valid JSON, but not at this position.
void JsonScan::fail_at_token() {
  switch (peek()) {
    case 0:
    case ',':
    case ':':
    case '{':
    case '}':
    case '[':
    case ']':
      ++at_;
      break;
    default:
      skipped_ = 0;
      scan_value();
  }
  fail(at_);
}

void JsonScan::scan_digits() {
  const char* at = at_;
  while (is_digit(*at)) ++at;
  expect(at != at_);
  at_ = at;
}

void JsonScan::scan_number() {
  token_ = at_;
  whole_ = true;
  if (peek() == '-') ++at_;
  if (peek() == '0') {
    ++at_;
  } else {
    scan_digits();
  }
  if (peek() == '.') {
    ++at_;
    whole_ = false;
    scan_digits();
  }
  const bool exponent = peek() == 'e' || peek() == 'E';
  if (exponent) {
    ++at_;
    whole_ = false;
    if (peek() == '+' || peek() == '-') ++at_;
    scan_digits();
  }
  // Numbers must be representable as a double, also in skipped members.
  if ((exponent || at_ - token_ > std::numeric_limits<double>::max_exponent10) && !std::isfinite(number())) fail(at_);
}

double JsonScan::number() const {
  double value = 0;
  // Underflow and overflow give the same error.
  if (std::from_chars(token_, at_, value).ec != std::errc())
    value = std::strtod(std::string(token_, at_).c_str(), nullptr);
  return value == 0 && whole_ ? 0 : value;  // "-0" is an integer
}

void JsonScan::scan_text() {
  token_ = ++at_;
  spelled_ = false;
  for (;;) {
    const char* const plain = at_;
    const char* at = at_;
    while (end_ - at >= 16) {
      const Bytes bytes = bytes_at(at);
      const int plainly =
          zeros((bytes < ' ') | (bytes == '"') | (bytes == '\\'));  // negative: part of a multi-byte sequence
      at += plainly;
      if (plainly < 16) break;
    }
    while (static_cast<signed char>(*at) >= ' ' && *at != '"' && *at != '\\') ++at;
    at_ = at;
    const int c = peek();
    if (c >= 0x80) scan_wide();
    if (spelled_) spelling_.append(plain, at_);
    if (c == '"') break;
    if (c == '\\') {
      if (!spelled_) spelling_.assign(token_, at_);
      spelled_ = true;
      scan_escape();
    } else {
      expect(c >= 0x80);
    }
  }
  ++at_;
}

unsigned JsonScan::scan_hex() {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = peek(), lower = c | 0x20;
    const bool letter = lower >= 'a' && lower <= 'f';
    expect(letter || is_digit(c));
    value = value * 16 + static_cast<unsigned>(letter ? lower - 'a' + 10 : c - '0');
    ++at_;
  }
  return value;
}

void JsonScan::scan_escape() {
  constexpr std::string_view kEscapes = "\"\\/bfnrtu", kMeant = "\"\\/\b\f\n\r\t";
  ++at_;
  const std::size_t which = kEscapes.find(static_cast<char>(peek()));
  expect(which != std::string_view::npos);
  ++at_;
  if (which < kMeant.size()) {
    spelling_ += kMeant[which];
    return;
  }
  // Code points beyond 16 bits are surrogate pairs.
  unsigned point = scan_hex();
  if (point >= 0xD800 && point < 0xDC00) {
    for (const char c : {'\\', 'u'}) {
      expect(peek() == c);
      ++at_;
    }
    const unsigned low = scan_hex();
    if (low < 0xDC00 || low > 0xDFFF) fail(at_);
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  } else if (point >= 0xDC00 && point < 0xE000) {
    fail(at_);
  }
  const auto put = [&](unsigned lead, unsigned shift) {
    spelling_ += static_cast<char>(lead | (point >> shift));
    while (shift > 0) {
      shift -= 6;
      spelling_ += static_cast<char>(0x80 | ((point >> shift) & 0x3F));
    }
  };
  if (point < 0x80) {
    put(0, 0);
  } else if (point < 0x800) {
    put(0xC0, 6);
  } else if (point < 0x10000) {
    put(0xE0, 12);
  } else {
    put(0xF0, 18);
  }
}

/// Validates a multi-byte UTF-8 sequence: shortest form, no surrogate.
void JsonScan::scan_wide() {
  const int lead = peek();
  expect(lead >= 0xC2 && lead <= 0xF4);
  ++at_;
  int least = 0x80, most = 0xBF;  // of the second byte
  if (lead == 0xE0) least = 0xA0;
  if (lead == 0xED) most = 0x9F;
  if (lead == 0xF0) least = 0x90;
  if (lead == 0xF4) most = 0x8F;
  for (int left = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3; left > 0; --left) {
    expect(peek() >= least && peek() <= most);
    ++at_;
    least = 0x80;
    most = 0xBF;
  }
}

void JsonScan::open(bool object) {
  if (wanted()) taker_.open(object);
  open_.push_back(object);
}

void JsonScan::close() {
  const bool object = open_.back();
  open_.pop_back();
  if (wanted()) taker_.close(object);
}

/// Reads the key and advances to its value.
void JsonScan::begin_member() {
  if (*at_ != '"') fail_at_token();
  scan_text();
  if (wanted() && !taker_.key(text())) skipped_ = open_.size();
  skip_space();
  if (*at_ != ':') fail_at_token();
  ++at_;
  skip_space();
}

/// A string, number or literal.
void JsonScan::scan_value() {
  switch (*at_) {
    case '"':
      scan_text();
      if (wanted()) taker_.text(text());
      break;
    case 't':
      scan_word("true");
      if (wanted()) taker_.truth(true);
      break;
    case 'f':
      scan_word("false");
      if (wanted()) taker_.truth(false);
      break;
    case 'n':
      scan_word("null");
      break;
    default:
      scan_number();
      if (wanted()) taker_.number(number());
  }
}

void JsonScan::document() {
  skip_mark();
  skip_space();
  for (;;) {
    // Start of a value.
    if (*at_ == '{' || *at_ == '[') {
      const bool object = *at_++ == '{';
      open(object);
      skip_space();
      if (*at_ != (object ? '}' : ']')) {
        if (object) begin_member();
        continue;
      }
      ++at_;
      close();
    } else {
      scan_value();
    }
    // End of a value.
    for (;;) {
      if (open_.size() == skipped_) skipped_ = kNone;
      skip_space();
      if (open_.empty()) {
        if (*at_ != 0) fail_at_token();  // after a crash some file systems pad a file with zeros
        return;
      }
      const bool object = open_.back() != 0;
      if (*at_ == ',') {
        ++at_;
        skip_space();
        if (object) begin_member();
        break;
      }
      if (*at_ != (object ? '}' : ']')) fail_at_token();
      ++at_;
      close();
    }
  }
}

}  // namespace

void scan_json(const std::string& document, JsonTaker& taker) { JsonScan(document, taker).document(); }

}  // namespace roofline
