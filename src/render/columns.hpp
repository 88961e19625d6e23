// Tables whose columns are data: one entry for each column, and every output iterates over the entries.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "render/csv_fields.hpp"
#include "render/html/escape.hpp"
#include "render/markdown_text.hpp"
#include "render/terminal/table.hpp"
#include "text/text.hpp"

namespace roofline {

/// Outputs that a column can be in; combined with '|'.
enum Output : std::uint8_t { kCsv = 1, kJsonLines = 2, kMarkdown = 4, kTerminal = 8, kPage = 16 };
inline constexpr int kPeople = kMarkdown | kTerminal | kPage, kDocuments = kMarkdown | kPage;

/// The unit of a column's numbers, which determines their text. none: the column has a `text`.
enum class Unit : std::uint8_t { none, count, seconds, share, bytes, bytes_per_s };
/// Rounded and with its unit; "–" if not a number.
std::string figure_text(const Value& value, Unit unit);

/// Overrides for one output; empty members use the column's. Texts are ready for their output: Markdown, terminal line,
/// HTML.
template <class Row>
struct MarkdownLook {
  std::string_view title = {};
  std::string (*text)(const Row&) = nullptr;
};
template <class Row, class Table>
struct TerminalLook {
  std::optional<std::string_view> title = {};  ///< else the column's in lower case
  std::string (*text)(const Row&) = nullptr;
  double (*bar)(const Row&) = nullptr;  ///< a fraction, drawn as a bar
  Ink (*ink)(const Row&) = nullptr;
  int place = 0;
  int rank = 0, first_to = 0;  ///< as in TerminalColumn
  bool shrinks = false;
  void (*layout)(TerminalColumn&, const Table&) = nullptr;  ///< for layouts that depend on the table
};
template <class Row>
struct PageLook {
  std::string_view title = {}, meaning = {};
  std::string_view style = {};  ///< class of its cells and its head; else "n" of figures, "share" of shares
  std::string (*html)(const Row&) = nullptr;
  std::string (*attributes)(const Row&) = nullptr;  ///< attributes of the cell's element
  Value (*sort)(const Row&) = nullptr;              ///< sort key; else the value
  int place = 0;
  bool copied = false;  ///< part of the table that the page copies as Markdown
};

/// NaN if not a number.
double number_of(const Value& value);

/// "0.0123"; "-" if not a number, which a page sorts last.
std::string sort_text(double value);

/// One column. `Row` is the source of a row, `Table` that of the whole table.
template <class Row, class Table>
struct Column {
  std::string_view key = {};              ///< in CSV and JSON lines; never changes once released
  std::string_view title = {};            ///< display title
  std::string_view meaning = {};          ///< a phrase: tooltip of the page, help of the metric
  std::string_view metric = {};           ///< name of a gauge; empty: it is none
  int in = kPeople;                       ///< outputs that contain it
  int place = 0;                          ///< among the columns for people; CSV has the order of the entries
  bool left = false;                      ///< aligned left: texts
  bool (*when)(const Table&) = nullptr;   ///< true if this table has the column; nullptr: each has
  bool (*shown)(const Table&) = nullptr;  ///< true if tables for display show it
  Value (*value)(const Row&) = nullptr;   ///< exact, in SI base units
  Unit unit = Unit::none;
  std::string (*text)(const Row&) = nullptr;  ///< display text, if it is not the value with its unit
  MarkdownLook<Row> markdown = {};
  TerminalLook<Row, Table> terminal = {};
  PageLook<Row> page = {};
};

inline Value to_value(std::string_view text) { return std::string(text); }
inline Value to_value(double number) { return number; }
inline Value to_value(std::optional<double> number) { return number ? Value(*number) : Value(); }
template <class Same>
requires std::same_as<Same, bool> || std::same_as<Same, Value> Value to_value(Same value) { return value; }
template <std::signed_integral Integer>
Value to_value(Integer integer) {
  return std::int64_t{integer};
}

/// A column that only CSV has: `figure` returns a text, a number or a truth value of a row.
template <auto figure, class Row, class Table>
constexpr Column<Row, Table> csv_column(std::string_view key, bool (*when)(const Table&) = nullptr) {
  return {.key = key, .in = kCsv, .when = when, .value = [](const Row& row) { return to_value(figure(row)); }};
}

/// The text of a cell for people, not escaped.
template <class Row, class Table>
std::string text_of(const Column<Row, Table>& column, const Row& row) {
  return column.text != nullptr ? column.text(row) : figure_text(column.value(row), column.unit);
}

/// The columns of `table` in an output, in that output's order.
template <class Row, class Table>
std::vector<const Column<Row, Table>*> columns_in(Output output, std::span<const Column<Row, Table>> all,
                                                  const Table& table) {
  std::vector<const Column<Row, Table>*> chosen;
  const bool people = (output & kPeople) != 0;
  for (const Column<Row, Table>& column : all) {
    const bool has = (column.in & output) != 0 && (column.when == nullptr || column.when(table));
    if (has && (!people || column.shown == nullptr || column.shown(table))) chosen.push_back(&column);
  }
  const auto place = [output](const Column<Row, Table>* column) {
    const int own = output == kTerminal ? column->terminal.place : output == kPage ? column->page.place : 0;
    return own != 0 ? own : column->place;
  };
  if (people) std::ranges::stable_sort(chosen, {}, place);
  return chosen;
}

/// A head with the keys, and a line for each row.
template <class Row, class Table>
std::string csv_table(std::span<const Column<Row, Table>> all, const Table& table, const std::vector<Row>& rows) {
  const auto columns = columns_in(kCsv, all, table);
  std::vector<std::string> fields;
  for (const auto* column : columns) fields.emplace_back(column->key);
  std::string text = csv_line(fields);
  for (const Row& row : rows) {
    std::ranges::transform(columns, fields.begin(), [&](const auto* column) { return csv_field(column->value(row)); });
    text += csv_line(fields);
  }
  return text;
}

template <class Row, class Table>
std::string markdown_table(std::span<const Column<Row, Table>> all, const Table& table, const std::vector<Row>& rows) {
  const auto columns = columns_in(kMarkdown, all, table);
  std::vector<std::string> cells;
  std::string text, rule = "|";
  for (const auto* column : columns) {
    cells.emplace_back(column->markdown.title.empty() ? column->title : column->markdown.title);
    rule += column->left ? ":--|" : "--:|";
  }
  append_markdown_row(text, cells);
  text += rule + '\n';
  for (const Row& row : rows) {
    std::ranges::transform(columns, cells.begin(), [&](const auto* column) {
      return column->markdown.text != nullptr ? column->markdown.text(row) : escape_markdown(text_of(*column, row));
    });
    append_markdown_row(text, cells);
  }
  return text;
}

/// "Limited by" as "limited by"; acronyms stay.
std::string terminal_title(std::string_view title);

template <class Row, class Table>
TerminalTable terminal_head(const std::vector<const Column<Row, Table>*>& columns, const Table& table) {
  std::vector<TerminalColumn> heads;
  for (const auto* column : columns) {
    const TerminalLook<Row, Table>& look = column->terminal;
    heads.push_back({look.title ? std::string(*look.title) : terminal_title(column->title), !column->left, look.rank,
                     look.shrinks, look.first_to});
    if (look.layout != nullptr) look.layout(heads.back(), table);
  }
  return TerminalTable(std::move(heads));
}

template <class Row, class Table>
std::vector<Cell> terminal_cells(const std::vector<const Column<Row, Table>*>& columns, const Row& row,
                                 const TerminalStyle& style) {
  std::vector<Cell> cells;
  for (const auto* column : columns) {
    const TerminalLook<Row, Table>& look = column->terminal;
    std::string text = look.bar != nullptr    ? bar(look.bar(row), 6, style)
                       : look.text != nullptr ? look.text(row)
                                              : clean_line(text_of(*column, row));
    cells.push_back({std::move(text), look.ink != nullptr ? look.ink(row) : Ink::plain});
  }
  return cells;
}

template <class Row, class Table>
std::string terminal_table(std::span<const Column<Row, Table>> all, const Table& table, const std::vector<Row>& rows,
                           const TerminalStyle& style) {
  const auto columns = columns_in(kTerminal, all, table);
  TerminalTable text = terminal_head(columns, table);
  for (const Row& row : rows) text.add_row(terminal_cells(columns, row, style));
  return text.render(style);
}

/// The sort key of a cell on a page.
template <class Row, class Table>
Value sort_value(const Column<Row, Table>& column, const Row& row) {
  return (column.page.sort != nullptr ? column.page.sort : column.value)(row);
}

/// ` class="n"`; empty without a class.
std::string html_class(std::string_view style);

/// A cell with a bar: a share, and its percentage.
std::string html_share(double share);

template <class Row, class Table>
std::string html_class(const Column<Row, Table>& column) {
  const bool plain = column.page.style.empty();
  return html_class(!plain ? column.page.style : column.left ? "" : column.unit == Unit::share ? "share" : "n");
}

/// The cells of a row, the first as its heading. End tags that HTML doesn't ask for are left out.
template <class Row, class Table>
std::string html_cells(const std::vector<const Column<Row, Table>*>& columns, const Row& row) {
  std::string html;
  for (const auto* column : columns) {
    const PageLook<Row>& look = column->page;
    html += html.empty() ? "<th scope=\"row\"" : "<td";
    html += html_class(*column);
    if (look.attributes != nullptr) html += look.attributes(row);
    html += '>';
    html += look.html != nullptr          ? look.html(row)
            : column->unit == Unit::share ? html_share(number_of(column->value(row)))
                                          : escape_html(text_of(*column, row));
  }
  return html;
}

/// The head of a page's table; the rows are in the descending order of the column at `sorted`.
template <class Row, class Table>
std::string html_head(const std::vector<const Column<Row, Table>*>& columns, std::size_t sorted = std::string::npos) {
  std::string html = "<thead><tr>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& column = *columns[i];
    html += "<th scope=\"col\"" + html_class(column);
    if (column.page.copied) html += " data-copied";
    if (i == sorted) html += " aria-sort=\"descending\"";
    const std::string_view meaning = column.page.meaning.empty() ? column.meaning : column.page.meaning;
    if (!meaning.empty()) html += fmt::format(" title=\"{}\"", meaning);
    html += '>' + std::string(column.page.title.empty() ? column.title : column.page.title);
  }
  return html + "</tr></thead>";
}

/// CSS that names each cell by its column where a narrow page sets rows as cards.
template <class Row, class Table>
std::string html_column_names(std::string_view selector, const std::vector<const Column<Row, Table>*>& columns) {
  std::vector<std::string> titles;
  for (const auto* column : columns)
    titles.emplace_back(column->page.title.empty() ? column->title : column->page.title);
  return html_column_names(selector, titles);
}

inline constexpr auto kNoAttributes = [](const auto&) { return std::string(); };

/// A whole table in a box that scrolls; `caption` may be empty. `attributes` returns those of a row's element.
template <class Row, class Table, class Attributes = decltype(kNoAttributes)>
std::string html_table(std::string_view style, std::string_view caption, std::span<const Column<Row, Table>> all,
                       const Table& table, const std::vector<Row>& rows, const Attributes& attributes = kNoAttributes) {
  const auto columns = columns_in(kPage, all, table);
  std::string html = fmt::format("<div class=\"scroll\"><table class=\"{}\">", style);
  if (!caption.empty()) html += fmt::format("<caption class=\"unseen\">{}</caption>", caption);
  html += html_head(columns) + "<tbody>\n";
  for (const Row& row : rows) {
    html += fmt::format("<tr{}>{}\n", attributes(row), html_cells(columns, row));
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace roofline
