// Text tables for terminals: columns are as wide as their content, and are dropped or shortened to fit. Independent of
// rooflines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "render/render.hpp"

namespace roofline {

/// Style of text on terminals with colours.
enum class Ink : std::uint8_t { plain, bold, dim, good, warn, bad, blue, magenta, cyan };

struct Cell {
  std::string text;
  Ink ink = Ink::plain;
};

struct TerminalColumn {
  std::string title;
  bool right = false;  ///< aligned right
  /// 0: always shown; else left out when the table is too wide, the highest rank first.
  int rank = 0;
  bool shrinks = false;  ///< its texts are shortened, and stay distinct, when leaving columns out was not enough…
  int first_to = 0;      ///< …and to this width before any column is left out; 0: not before
};

class TerminalTable {
 public:
  explicit TerminalTable(std::vector<TerminalColumn> columns) : columns_(std::move(columns)) {}

  void add_row(std::vector<Cell> cells) { rows_.push_back({std::move(cells), {}, false}); }
  /// A heading between rows.
  void add_heading(std::string text) { rows_.push_back({{}, std::move(text), true}); }

  std::string render(const TerminalStyle& style) const;
  /// True if there is room for that column.
  bool shows(std::string_view title, const TerminalStyle& style) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string heading;
    bool is_heading = false;
  };
  /// ASCII replacements may be wider than the originals, so that they are applied before measuring.
  TerminalTable replaced(const TerminalStyle& style) const;
  std::size_t indent() const;
  std::vector<int> widths(int columns, std::size_t indent) const;
  /// Rows whose texts differ stay different.
  void shorten_column(std::size_t column, int width);

  std::vector<TerminalColumn> columns_;
  std::vector<Row> rows_;
};

/// `text` in its ink, when the style has colours.
std::string inked(std::string_view text, Ink ink, const TerminalStyle& style);

/// Breaks at spaces into lines of at most style.columns, the first after `first` and the others indented alike. Longer
/// words are shortened, or with `whole_words` left to the terminal.
std::string wrapped(std::string_view first, std::string_view text, const TerminalStyle& style,
                    bool whole_words = false);

/// Replaces our own symbols by ASCII ones, and other non-ASCII characters by '?', if the terminal lacks Unicode.
std::string for_terminal(std::string text, const TerminalStyle& style);

/// A bar of `width` cells, with a resolution of an eighth of a cell with Unicode; empty if unknown.
std::string bar(double fraction, int width, const TerminalStyle& style);

}  // namespace roofline
