// Iteration over requested output elements row by row, for references that share work within a row.
#pragma once

#include <cstdint>
#include <span>

namespace roofline {

/// Calls `work(row, indices, expected)` once for each row of `columns` elements with requested elements: `indices`
/// are those of the row (into the whole output), `expected` their results.
template <typename Work>
void for_each_row(std::span<const std::int64_t> indices, std::span<double> expected, std::int64_t columns, Work work) {
  std::size_t begin = 0;
  while (begin < indices.size()) {
    const std::int64_t row = indices[begin] / columns;
    std::size_t end = begin + 1;
    while (end < indices.size() && indices[end] < (row + 1) * columns) ++end;
    work(row, indices.subspan(begin, end - begin), expected.subspan(begin, end - begin));
    begin = end;
  }
}

}  // namespace roofline
