// A drawing in character cells: letters, and lines of Braille dots (2 by 4 in a cell) or of ASCII characters.
// Knows no rooflines. A letter hides the line behind it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "render/terminal/table.hpp"

namespace roofline {

class CharacterGrid {
 public:
  /// A cell's size in the pixels that lines are drawn in.
  static constexpr int kCellWidth = 8, kCellHeight = 16;

  CharacterGrid(int columns, int rows)
      : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  int columns() const { return columns_; }
  int rows() const { return rows_; }

  /// A dot of a line at that pixel; `ascii` replaces it without Unicode.
  void dot(double x, double y, Ink ink, char ascii);

  /// Writes text from that cell on, one column per character; clipped at the borders.
  void write(int column, int row, std::string_view text, Ink ink);

  /// True if `width` cells are inside the grid and contain no letter, nor a line if `lines_too`.
  bool is_free(int column, int row, int width, bool lines_too) const;

  /// The cells of one row, without spaces at its end.
  std::string row(int row, const TerminalStyle& style) const;

 private:
  struct GridCell {
    std::string text;       ///< empty: no letter
    std::uint8_t dots = 0;  ///< Braille pattern
    char ascii = ' ';
    Ink ink = Ink::plain;
  };
  bool contains(int column, int row) const { return column >= 0 && column < columns_ && row >= 0 && row < rows_; }
  GridCell& at(int column, int row) { return cells_[index(column, row)]; }
  const GridCell& at(int column, int row) const { return cells_[index(column, row)]; }
  std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }

  int columns_, rows_;
  std::vector<GridCell> cells_;
};

}  // namespace roofline
