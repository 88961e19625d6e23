// Layer norm and RMS norm of as many rows, and as wide ones, as make bands of one row, of several, and a last one of
// fewer, with blocks of whole vectors and without.
#include "kernels/blocks/cpu/normalise_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/elements.hpp"

namespace roofline {
namespace {

constexpr double kEpsilon = 1e-5;

struct Moments {
  double mean, scale;
};

template <typename T>
Moments moments_of(const T* row, std::int64_t columns, bool centred) {
  double mean = 0;
  for (std::int64_t i = 0; centred && i < columns; ++i) mean += as_double(row[i]);
  mean /= static_cast<double>(columns);
  double squares = 0;
  for (std::int64_t i = 0; i < columns; ++i) squares += std::pow(as_double(row[i]) - mean, 2);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(columns) + kEpsilon)};
}

/// No two rows have one mean or one scale, so that a row emitted with another's is found; nor two columns one weight.
template <Isa isa, typename T>
void expect_normalised(std::int64_t rows, std::int64_t columns, bool centred, bool streamed, double tolerance) {
  SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(columns) + (centred ? ", centred" : "") +
               (streamed ? ", streamed" : ""));
  const auto width = static_cast<std::size_t>(columns);
  std::vector<T> x(static_cast<std::size_t>(rows) * width), gamma(width), beta(width);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / width;
    const double offset = static_cast<double>(row) / 8;
    x[i] = as_element<T>(std::sin(static_cast<double>(i)) * (1 + offset / 2) + offset);
  }
  for (std::size_t i = 0; i < width; ++i) {
    gamma[i] = as_element<T>(1 + std::cos(static_cast<double>(i)) / 2);
    beta[i] = as_element<T>(std::sin(static_cast<double>(3 * i)));
  }
  LineAligned<T> y(rows * columns);
  normalise_rows<isa>(x.data(), gamma.data(), centred ? beta.data() : nullptr, y.data(), rows, columns, kEpsilon,
                      streamed);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* in = x.data() + row * columns;
    const T* out = y.data() + row * columns;
    const Moments m = moments_of(in, columns, centred);
    for (std::int64_t i = 0; i < columns; ++i) {
      const auto column = static_cast<std::size_t>(i);
      const double shift = centred ? as_double(beta[column]) : 0;
      const double expected = (as_double(in[i]) - m.mean) * m.scale * as_double(gamma[column]) + shift;
      ASSERT_NEAR(as_double(out[i]), expected, tolerance * (std::abs(expected) + 1)) << "row " << row << ", " << i;
    }
  }
}

template <Isa isa>
void expect_all_normalised(std::int64_t rows, std::int64_t columns) {
  for (const bool centred : {true, false}) {
    for (const bool streamed : {true, false}) {
      expect_normalised<isa, float>(rows, columns, centred, streamed, 1e-5);
      expect_normalised<isa, double>(rows, columns, centred, streamed, 1e-13);
      expect_normalised<isa, Fp16>(rows, columns, centred, streamed, 2e-3);
      expect_normalised<isa, Bf16>(rows, columns, centred, streamed, 1e-2);
    }
  }
}

TEST(CpuKernels, NormsOfBandsOfRowsAreRight) {
  const std::int64_t shapes[][2] = {{1, 5000}, {3, 7}, {37, 1536}, {50, 3001}, {200, 1100}};
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(to_string(isa));
    with_isa(isa, [&]<Isa level>() {
      for (const auto& [rows, columns] : shapes) expect_all_normalised<level>(rows, columns);
    });
  }
}

}  // namespace
}  // namespace roofline
