#include "sample/python_lines.hpp"

#include "sample/bytes.hpp"

namespace roofline {
namespace {

/// 3.9: pairs of increments of offset and line.
int line_of_lnotab(std::string_view table, int line, std::int64_t offset) {
  ByteCursor cursor(table);
  std::int64_t at = 0;
  while (cursor.left() >= 2) {
    at += cursor.byte();
    const auto delta = cursor.number<std::int8_t>();
    if (at > offset) break;
    line += delta;
  }
  return line;
}

/// 3.10: pairs of a range's length and its line's increment; -128: no line.
int line_of_ranges(std::string_view table, int first_line, std::int64_t offset) {
  constexpr int kNoLine = -128;
  ByteCursor cursor(table);
  std::int64_t end = 0;
  int line = first_line, known = first_line;
  while (cursor.left() >= 2) {
    end += cursor.byte();
    const auto delta = cursor.number<std::int8_t>();
    if (delta != kNoLine) known = line += delta;
    if (offset < end) break;
  }
  return known;
}

std::uint64_t read_varint(ByteCursor& cursor) {
  constexpr unsigned kPart = 6, kMost = 60;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= kMost && cursor.good(); shift += kPart) {
    const std::uint8_t part = cursor.byte();
    value |= static_cast<std::uint64_t>(part & 0x3fU) << shift;
    if ((part & 0x40U) == 0) break;
  }
  return value;
}

std::int64_t read_signed_varint(ByteCursor& cursor) {
  const std::uint64_t value = read_varint(cursor);
  const auto size = static_cast<std::int64_t>(value >> 1U);
  return (value & 1U) != 0 ? -size : size;
}

/// 3.11 and later: entries of a kind, a length in code units, and positions.
int line_of_locations(std::string_view table, int first_line, std::int64_t offset) {
  constexpr std::uint64_t kNone = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;
  constexpr std::int64_t kUnit = 2;
  ByteCursor cursor(table);
  std::int64_t end = 0, line = first_line, known = first_line;
  while (!cursor.at_end()) {
    const std::uint8_t head = cursor.byte();
    const std::uint64_t kind = head >> 3U & 0x0fU;
    end += kUnit * ((head & 7U) + 1);
    if (kind == kLong) {
      line += read_signed_varint(cursor);
      for (int i = 0; i < 3; ++i) read_varint(cursor);
    } else if (kind == kNoColumns) {
      line += read_signed_varint(cursor);
    } else if (kind >= kOneLine && kind < kNoColumns) {
      line += static_cast<std::int64_t>(kind - kOneLine);
      cursor.skip(2);
    } else if (kind < kOneLine) {
      cursor.skip(1);
    }
    if (kind != kNone) known = line;
    if (offset < end) break;
  }
  return static_cast<int>(known);
}

}  // namespace

int python_line(int minor, std::string_view table, int first_line, std::int64_t offset) {
  constexpr int kLnotab = 9, kRanges = 10;
  if (offset < 0) return first_line;
  const int line = minor <= kLnotab   ? line_of_lnotab(table, first_line, offset)
                   : minor == kRanges ? line_of_ranges(table, first_line, offset)
                                      : line_of_locations(table, first_line, offset);
  return line > 0 ? line : first_line;
}

}  // namespace roofline
