// Layout of text tables: measure, drop, shrink, pad.
#include "render/terminal/table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

#include "text/text.hpp"

namespace roofline {
namespace {

constexpr int kGap = 2;
constexpr int kNarrowest = 6;  // shorter names are useless

std::string padded(const std::string& text, int width, bool right) {
  const std::string space(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return right ? space + text : text + space;
}

}  // namespace

std::string inked(std::string_view text, Ink ink, const TerminalStyle& style) {
  static constexpr std::array<const char*, 9> kCodes = {"", "1", "2", "32", "33", "31", "34", "35", "36"};
  if (!style.color || ink == Ink::plain || text.empty()) return std::string(text);
  return std::string("\x1b[") + kCodes.at(static_cast<std::size_t>(ink)) + "m" + std::string(text) + "\x1b[0m";
}

/// A setting or an option with its value: "GLIBC_TUNABLES=…", "--bind-to=core".
static bool is_command(std::string_view word) {
  const std::size_t first = word.find_first_not_of("(`\"'");
  const std::size_t equals = word.find('=');
  if (first == std::string_view::npos || equals == std::string_view::npos || equals <= first) return false;
  const std::string_view name = word.substr(first, equals - first);
  return std::ranges::all_of(name,
                             [](unsigned char letter) {
                               return std::isupper(letter) != 0 || std::isdigit(letter) != 0 || letter == '_';
                             }) ||
         name.starts_with('-');
}

std::string wrapped(std::string_view first, std::string_view text, const TerminalStyle& style, bool whole_words) {
  const int indent = display_width(first);
  const int room = std::max(20, style.columns - indent);
  std::string result(first);
  int used = 0;
  std::string rest(text);
  while (!rest.empty()) {
    const std::size_t space = rest.find(' ');
    std::string word = rest.substr(0, space);
    rest = space == std::string::npos ? "" : rest.substr(space + 1);
    // What a reader copies is never cut; the terminal breaks it where it is too long.
    word = for_terminal(whole_words || is_command(word) ? word : shorten(word, room), style);
    const int width = display_width(word);
    if (used > 0 && used + 1 + width > room) {
      result += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      used = 0;
    }
    if (used > 0) result += ' ';
    result += word;
    used += width + (used > 0 ? 1 : 0);
  }
  return result + '\n';
}

std::string for_terminal(std::string text, const TerminalStyle& style) {
  if (style.unicode) return text;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kAscii = {{{"\u00b5", "u"},
                                                                                            {"\u00b1", "+-"},
                                                                                            {"\u00d7", "x"},
                                                                                            {"\u2013", "-"},
                                                                                            {"\u2014", "-"},
                                                                                            {"\u2026", "~"},
                                                                                            {"\u00b7", "-"},
                                                                                            {"\u221e", "inf"},
                                                                                            {"\u25b2", "^"},
                                                                                            {"\u2264", "<="},
                                                                                            {"\u2265", ">="},
                                                                                            {"\u2192", "->"},
                                                                                            {"\u203a", ">"},
                                                                                            {"\u2020", "+"},
                                                                                            {"\u2212", "-"}}};
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view point = rest.substr(0, next_code_point(rest).bytes);
    const auto* found =
        std::find_if(kAscii.begin(), kAscii.end(), [point](const auto& pair) { return pair.first == point; });
    result += point.size() == 1 ? point : found != kAscii.end() ? found->second : std::string_view("?");
    rest.remove_prefix(point.size());
  }
  return result;
}

std::vector<int> TerminalTable::widths(int columns, std::size_t indent) const {
  std::vector<int> result(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    result[i] = display_width(columns_[i].title);
    for (const Row& row : rows_) {
      if (i < row.cells.size()) result[i] = std::max(result[i], display_width(row.cells[i].text));
    }
  }
  const auto total = [&] {
    const auto shown = std::count_if(result.begin(), result.end(), [](int width) { return width > 0; });
    return std::accumulate(result.begin(), result.end(), static_cast<int>(indent)) +
           kGap * std::max(0, static_cast<int>(shown) - 1);
  };
  // Columns that shrink first count with their minimum width, then grow into the remaining space.
  const std::vector<int> natural = result;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].first_to > 0) result[i] = std::min(result[i], columns_[i].first_to);
  }
  while (total() > columns) {
    const auto last = std::max_element(columns_.begin(), columns_.end(), [&](const auto& a, const auto& b) {
      const bool a_gone = result[static_cast<std::size_t>(&a - columns_.data())] == 0;
      const bool b_gone = result[static_cast<std::size_t>(&b - columns_.data())] == 0;
      return (a_gone ? 0 : a.rank) < (b_gone ? 0 : b.rank);
    });
    const auto index = static_cast<std::size_t>(last - columns_.begin());
    if (last->rank == 0 || result[index] == 0) break;
    result[index] = 0;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (result[i] < natural[i] && result[i] > 0)
      result[i] = std::min(natural[i], result[i] + std::max(0, columns - total()));
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const int excess = total() - columns;
    if (columns_[i].shrinks && excess > 0) result[i] = std::max(std::min(kNarrowest, result[i]), result[i] - excess);
  }
  return result;
}

TerminalTable TerminalTable::replaced(const TerminalStyle& style) const {
  TerminalTable plain(columns_);
  for (const Row& row : rows_) {
    plain.rows_.push_back(row);
    for (Cell& cell : plain.rows_.back().cells) cell.text = for_terminal(cell.text, style);
    plain.rows_.back().heading = for_terminal(row.heading, style);
  }
  return plain;
}

std::size_t TerminalTable::indent() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.is_heading; }) ? 1 : 0;
}

bool TerminalTable::shows(std::string_view title, const TerminalStyle& style) const {
  const auto column = std::ranges::find(columns_, title, &TerminalColumn::title);
  if (column == columns_.end()) return false;
  return replaced(style).widths(style.columns, indent())[static_cast<std::size_t>(column - columns_.begin())] > 0;
}

void TerminalTable::shorten_column(std::size_t column, int width) {
  std::vector<std::string> texts;
  for (const Row& row : rows_) {
    if (column < row.cells.size()) texts.push_back(row.cells[column].text);
  }
  texts = shorten_apart(texts, width);
  std::size_t next = 0;
  for (Row& row : rows_) {
    if (column < row.cells.size()) row.cells[column].text = texts[next++];
  }
}

std::string TerminalTable::render(const TerminalStyle& style) const {
  const std::string indent(this->indent(), ' ');
  TerminalTable fitting = replaced(style);
  const std::vector<int> width = fitting.widths(style.columns, indent.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].shrinks && width[i] > 0) fitting.shorten_column(i, width[i]);
  }
  const auto line = [&](const std::vector<Cell>& cells) {
    std::string result = indent;
    std::string pending;  // padding, written only when something follows: no trailing spaces
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (width[i] == 0) continue;
      const std::string text = shorten(cells[i].text, width[i]);
      const std::string shown = for_terminal(text, style);
      const std::string field = padded(shown, width[i], columns_[i].right);
      const std::size_t start = field.find_first_not_of(' ');
      if (start != std::string::npos) {
        result += pending + field.substr(0, start) + inked(shown, cells[i].ink, style);
        pending = field.substr(start + shown.size());
      } else {
        pending += field;
      }
      pending.append(kGap, ' ');
    }
    return result + '\n';
  };
  std::vector<Cell> titles;
  for (const TerminalColumn& column : columns_) titles.push_back({column.title, Ink::dim});
  std::string result = line(titles);
  for (const Row& row : fitting.rows_) {
    if (row.is_heading) {
      result += inked(for_terminal(shorten(row.heading, style.columns), style), Ink::bold, style) + '\n';
    } else {
      result += line(row.cells);
    }
  }
  return result;
}

std::string bar(double fraction, int width, const TerminalStyle& style) {
  if (!(fraction > 0)) return {};
  const double cells = std::clamp(fraction, 0.0, 1.0) * width;
  const int full = static_cast<int>(cells);
  std::string text;
  for (int i = 0; i < full; ++i) text += style.unicode ? "\u2588" : "#";
  static constexpr const char* kEighths[] = {"", "\u258F", "\u258E", "\u258D", "\u258C", "\u258B", "\u258A", "\u2589"};
  if (style.unicode) text += kEighths[static_cast<int>((cells - full) * 8)];
  return text;
}

}  // namespace roofline
