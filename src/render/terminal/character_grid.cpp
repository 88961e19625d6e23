// Braille patterns are U+2800 and a bit for each dot.
#include "render/terminal/character_grid.hpp"

#include <array>
#include <cmath>

#include "text/text.hpp"

namespace roofline {
namespace {

constexpr int kDot = 4;  // pixels from dot to dot, both ways

std::string braille(std::uint8_t dots) {
  const unsigned code = 0x2800U + dots;
  return {static_cast<char>(0xE0U | (code >> 12U)), static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
          static_cast<char>(0x80U | (code & 0x3FU))};
}

}  // namespace

void CharacterGrid::dot(double x, double y, Ink ink, char ascii) {
  static constexpr std::array<std::array<std::uint8_t, 2>, 4> kBits = {
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  const auto column = static_cast<int>(std::floor(x / kCellWidth));
  const auto row = static_cast<int>(std::floor(y / kCellHeight));
  if (!contains(column, row)) return;
  GridCell& cell = at(column, row);
  const auto right = static_cast<std::size_t>((x - column * kCellWidth) / kDot);
  const auto down = static_cast<std::size_t>((y - row * kCellHeight) / kDot);
  cell.dots |= kBits.at(down).at(right);
  if (!cell.text.empty()) return;
  cell.ascii = ascii;
  cell.ink = ink;
}

void CharacterGrid::write(int column, int row, std::string_view text, Ink ink) {
  for (; !text.empty(); ++column) {
    const std::string_view character = text.substr(0, next_code_point(text).bytes);
    text.remove_prefix(character.size());
    if (!contains(column, row)) continue;
    at(column, row).text = character;
    at(column, row).ink = ink;
  }
}

bool CharacterGrid::is_free(int column, int row, int width, bool lines_too) const {
  if (!contains(column, row) || !contains(column + width - 1, row)) return false;
  for (int i = column; i < column + width; ++i) {
    if (!at(i, row).text.empty() || (lines_too && at(i, row).dots != 0)) return false;
  }
  return true;
}

std::string CharacterGrid::row(int row, const TerminalStyle& style) const {
  std::string line;
  std::string run;  // cells of one ink
  Ink ink = Ink::plain;
  std::string gap;  // spaces, written only when something follows
  const auto flush = [&] {
    line += inked(run, ink, style);
    run.clear();
  };
  for (int column = 0; column < columns_; ++column) {
    const GridCell& cell = at(column, row);
    const std::string line_glyph = style.unicode ? braille(cell.dots) : std::string(1, cell.ascii);
    const std::string glyph = !cell.text.empty() ? cell.text : cell.dots != 0 ? line_glyph : " ";
    if (glyph == " ") {
      gap += ' ';
      continue;
    }
    if (cell.ink != ink) {
      flush();
      line += gap;
      ink = cell.ink;
    } else {
      run += gap;
    }
    gap.clear();
    run += glyph;
  }
  flush();
  return line;
}

}  // namespace roofline
