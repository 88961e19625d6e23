// The table of kernels, of a suite and of a program alike: rows that sort by numbers, of very many only the first as
// elements.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace roofline {

struct Column {
  const char* title;
  const char* style;    ///< class of its cells
  const char* meaning;  ///< tool tip
};

struct ResultRow {
  std::string attributes;       ///< of its element: id, and what filters ask for
  std::vector<double> sort_by;  ///< of each column; NaN where there is nothing, which comes last
  std::string cells;            ///< end tags that HTML doesn't ask for are left out
};

struct ResultsTable {
  const char* title;        ///< of the section
  std::string lead;         ///< how to read it; may be empty
  const char* placeholder;  ///< what the filter looks at
  const char* style;        ///< classes of the table
  const char* families;     ///< what its data-family is called
  const char* empty;        ///< instead of a table without rows
  std::span<const Column> columns;
  std::size_t sorted;  ///< column that the rows are in the descending order of
};

/// The section "kernels". A browser takes seconds for ten thousand rows of elements, so those beyond the first are text
/// to a page that runs its script, which makes a row when it is shown, and elements to one that does not.
std::string html_results(const ResultsTable& table, const std::vector<ResultRow>& rows);

std::string html_cell(const Column& column, const std::string& content);

/// Where each text stands in the order of people, in which "x 9" is before "x 10"; equal ones share a rank.
std::vector<double> natural_ranks(const std::vector<std::string>& texts);

/// What names a row's figures where a narrow page sets rows as cards.
std::string html_column_names(std::string_view table, std::span<const Column> columns);

}  // namespace roofline
