// Softmax of rows that a sum of exponentials doesn't survive unless it is taken relative to the right elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/softmax/softmax.hpp"

#include "tests/support/elements.hpp"
#include "tests/support/values.hpp"

namespace roofline {
namespace {

/// Element i of a row so long.
using RowFunction = std::function<double(double i, double columns)>;

const std::vector<RowFunction> kRows = {
    [](double i, double columns) { return 1000 * (i / columns - 0.5); },  // every block far above the last
    [](double i, double columns) { return 1000 * (0.5 - i / columns); },  // and below
    [](double i, double columns) { return i < columns / 3 ? -kInfinity : std::sin(i); },  // masked from the left
    [](double i, double columns) { return i < columns / 2 ? std::sin(i) : -kInfinity; },  // and from the right
    [](double, double) { return -kInfinity; },                                            // altogether
    [](double i, double columns) { return i == columns - 1 ? 60000 : -60000 + std::cos(i); },
    [](double i, double) { return 30 * std::sin(i); },
};

template <Isa isa, typename T>
void expect_softmax(std::int64_t columns, bool streamed, double tolerance) {
  const auto rows = static_cast<std::int64_t>(kRows.size());
  const auto elements = static_cast<std::size_t>(rows * columns);
  std::vector<T> x(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const double value =
        kRows[i / static_cast<std::size_t>(columns)](static_cast<double>(at % columns), static_cast<double>(columns));
    x[i] = as_element<T>(value);
  }
  LineAligned<T> output(rows * columns);
  T* y = output.data();
  std::vector<Computed<T>> scratch(static_cast<std::size_t>(softmax_scratch<T>(columns)));
  softmax_rows<isa>(x.data(), y, scratch.data(), rows, columns, streamed);
  for (std::int64_t row = 0; row < rows; ++row) {
    SCOPED_TRACE("row " + std::to_string(row));
    const T* in = x.data() + row * columns;
    double peak = -kInfinity;
    for (std::int64_t i = 0; i < columns; ++i) peak = std::max(peak, as_double(in[i]));
    double sum = 0;
    for (std::int64_t i = 0; i < columns; ++i) sum += std::exp(as_double(in[i]) - peak);
    for (std::int64_t i = 0; i < columns; ++i) {
      const double expected = std::exp(as_double(in[i]) - peak) / sum;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(as_double(y[row * columns + i]))) << "element " << i;
        continue;
      }
      ASSERT_NEAR(as_double(y[row * columns + i]), expected, tolerance * (expected + 1e-5)) << "element " << i;
    }
  }
}

TEST(CpuKernels, SoftmaxOfWideRowsIsRight) {
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(to_string(isa));
    with_isa(isa, []<Isa level>() {
      for (const std::int64_t columns : {4096, 3001, 7}) {
        SCOPED_TRACE(columns);
        for (const bool streamed : {false, true}) {
          expect_softmax<level, float>(columns, streamed, 1e-5);
          expect_softmax<level, double>(columns, streamed, 1e-13);
          expect_softmax<level, Fp16>(columns, streamed, 1e-2);
          expect_softmax<level, Bf16>(columns, streamed, 1e-2);
        }
      }
    });
  }
}

}  // namespace
}  // namespace roofline
