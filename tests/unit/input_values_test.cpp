// Generated inputs: their distribution, that they follow from the seed, and types that cannot hold them.
#include "user/input_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "tests/support/mentions.hpp"
#include "user/binding.hpp"
#include "user/index_inputs.hpp"

namespace roofline {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = InputFill::Kind;

const Place kValuesPlace{"s.yaml", 3, 10};

Formula formula(const std::string& text) { return {text, kValuesPlace}; }

InputFill filled(Kind kind, const std::string& first = "0", const std::string& second = "0") {
  return {.kind = kind, .first = formula(first), .second = formula(second), .place = kValuesPlace};
}

BufferSpec input(const std::string& name, DType dtype, const std::string& size, InputFill fill) {
  return {.name = name, .dtype = dtype, .size = formula(size), .fill = std::move(fill), .place = kValuesPlace};
}

KernelSpec kernel_of(std::vector<BufferSpec> buffers) {
  KernelSpec spec;
  spec.buffers = std::move(buffers);
  return spec;
}

Workload workload_of(Shape shape, std::uint64_t seed = 1) {
  Workload workload;
  workload.shape = std::move(shape);
  workload.seed = seed;
  return workload;
}

std::vector<double> values_of_input(const KernelSpec& spec, const Workload& workload, std::size_t t = 0) {
  HostTensor tensor(tensors_of(spec, workload).at(t));
  fill_input(spec, workload, t, 1000 * workload.seed + t, tensor);
  std::vector<double> values(static_cast<std::size_t>(tensor.spec().elements));
  tensor.read(0, values);
  return values;
}

std::vector<double> values_of_one(DType dtype, const InputFill& fill, std::int64_t n, std::uint64_t seed = 1) {
  return values_of_input(kernel_of({input("x", dtype, "n", fill)}), workload_of({{"n", n}}, seed));
}

std::string complaint(const KernelSpec& spec, const Workload& workload) {
  try {
    check_input_values(spec, workload, tensors_of(spec, workload));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string complaint(DType dtype, const InputFill& fill, std::int64_t n) {
  return complaint(kernel_of({input("x", dtype, "n", fill)}), workload_of({{"n", n}}));
}

TEST(InputValues, APermutationHasEveryIndexOnce) {
  for (const std::int64_t n : {1, 2, 3, 5, 64, 1000, 4097}) {
    std::vector<double> values = values_of_one(DType::int32, filled(Kind::permutation), n);
    const bool is_sorted = std::is_sorted(values.begin(), values.end());
    EXPECT_EQ(is_sorted, n == 1 || (n < 5 && is_sorted)) << n;
    std::sort(values.begin(), values.end());
    std::vector<double> indices(static_cast<std::size_t>(n));
    std::iota(indices.begin(), indices.end(), 0.0);
    EXPECT_EQ(values, indices) << n;
  }
}

TEST(InputValues, FollowFromTheSeed) {
  for (const InputFill& fill : {filled(Kind::permutation), filled(Kind::range, "0", "1000"),
                                filled(Kind::sorted, "0", "1000"), filled(Kind::mask, "0.5")}) {
    const auto once = values_of_one(DType::int32, fill, 1000, 1);
    EXPECT_EQ(once, values_of_one(DType::int32, fill, 1000, 1));
    EXPECT_NE(once, values_of_one(DType::int32, fill, 1000, 2));
  }
}

TEST(InputValues, WholeNumbersOfARangeAreEquallyFrequent) {
  std::vector<int> counts(5);
  for (const double value : values_of_one(DType::int8, filled(Kind::range, "-2", "2"), 100000)) {
    ++counts.at(static_cast<std::size_t>(value + 2));
  }
  EXPECT_THAT(counts, Each(testing::AllOf(testing::Gt(19000), testing::Lt(21000)))) << "both ends included, none less";
  EXPECT_THAT(values_of_one(DType::fp32, filled(Kind::range, "2", "3"), 1000),
              Each(testing::AllOf(testing::Ge(2), testing::Le(3))));
}

TEST(InputValues, SortedValuesCoverTheirRange) {
  for (const DType dtype : {DType::fp32, DType::int32}) {
    const auto values = values_of_one(dtype, filled(Kind::sorted, "-50", "50"), 10000);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    EXPECT_LT(values.front(), -49);
    EXPECT_GT(values.back(), 49);
    EXPECT_NEAR(values[5000], 0, 1);
  }
}

TEST(InputValues, AMaskHasItsShareOfOnes) {
  const auto values = values_of_one(DType::uint8, filled(Kind::mask, "1/8"), 80000);
  EXPECT_THAT(values, Each(testing::AnyOf(0.0, 1.0)));
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), 10000, 500);
  EXPECT_THAT(values_of_one(DType::fp32, filled(Kind::mask, "0"), 3), Each(0.0));
  EXPECT_THAT(values_of_one(DType::fp32, filled(Kind::mask, "1"), 3), Each(1.0));
}

TEST(InputValues, OfAFormula) {
  EXPECT_THAT(values_of_one(DType::int64, filled(Kind::formula, "i % 3 + n"), 5), ElementsAre(5, 6, 7, 5, 6));
  EXPECT_THAT(values_of_one(DType::fp32, filled(Kind::formula, "i / 2"), 3), ElementsAre(0, 0.5, 1));
  EXPECT_THROW(values_of_one(DType::int32, filled(Kind::formula, "i / 2"), 3), UsageError);
  EXPECT_THROW(values_of_one(DType::uint8, filled(Kind::formula, "i"), 257), UsageError);
  EXPECT_THROW(values_of_one(DType::fp32, filled(Kind::formula, "1 / i"), 2), UsageError);
  EXPECT_THROW(values_of_one(DType::fp16, filled(Kind::formula, "i * 70000"), 2), UsageError);
}

struct Csr {
  std::vector<double> row, column;
};

Csr csr(std::int64_t rows, std::int64_t columns, std::int64_t nonzeros, std::uint64_t seed = 1) {
  InputFill columns_of_row{.kind = Kind::csr_columns, .rows = "row", .place = kValuesPlace};
  const KernelSpec spec = kernel_of({input("col", DType::int32, "nnz", columns_of_row),
                                     input("row", DType::int64, "rows + 1", filled(Kind::csr_rows, "nnz", "cols"))});
  const Workload workload = workload_of({{"rows", rows}, {"cols", columns}, {"nnz", nonzeros}}, seed);
  EXPECT_EQ(complaint(spec, workload), "");
  return {values_of_input(spec, workload, 1), values_of_input(spec, workload, 0)};
}

TEST(InputValues, ASparseMatrixIsConsistent) {
  for (const auto& [rows, columns, nonzeros] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                                        {1, 10, 3},
                                                                                        {100, 50, 1},
                                                                                        {100, 50, 700},
                                                                                        {100, 50, 4000},
                                                                                        {100, 50, 5000},
                                                                                        {7, 3, 20},
                                                                                        {9000, 9000, 90000}}) {
    const Csr matrix = csr(rows, columns, nonzeros);
    EXPECT_TRUE(std::is_sorted(matrix.row.begin(), matrix.row.end()));
    EXPECT_EQ(matrix.row.front(), 0);
    EXPECT_EQ(matrix.row.back(), nonzeros);
    for (std::size_t r = 0; r + 1 < matrix.row.size(); ++r) {
      for (auto k = static_cast<std::size_t>(matrix.row[r]); k < static_cast<std::size_t>(matrix.row[r + 1]); ++k) {
        ASSERT_GE(matrix.column[k], 0);
        ASSERT_LT(matrix.column[k], columns);
        ASSERT_TRUE(k == static_cast<std::size_t>(matrix.row[r]) || matrix.column[k - 1] < matrix.column[k]) << r;
      }
    }
  }
}

TEST(InputValues, ASparseMatrixHasRowsOfDifferentLengthsAndUsesAllColumns) {
  const Csr matrix = csr(1000, 500, 8000);
  std::set<double> lengths;
  for (std::size_t r = 0; r + 1 < matrix.row.size(); ++r) lengths.insert(matrix.row[r + 1] - matrix.row[r]);
  EXPECT_GT(lengths.size(), 8U);
  EXPECT_EQ(std::set<double>(matrix.column.begin(), matrix.column.end()).size(), 500U);
  EXPECT_NE(matrix.row, csr(1000, 500, 8000, 2).row);
}

/// The same elements, one after the other.
TEST(InputValues, IndicesInAscendingOrderAreTheSameIndices) {
  KernelSpec spec = kernel_of({input("p", DType::int32, "n", filled(Kind::permutation)),
                               input("q", DType::uint16, "n", filled(Kind::range, "0", "99")),
                               input("x", DType::fp32, "n", filled(Kind::uniform))});
  spec.expect.formulas["y"] = formula("x[p[i]] + x[q]");
  EXPECT_THAT(index_inputs(spec), ElementsAre("p", "q"));
  const auto ascending = with_ascending_indices(spec);
  ASSERT_TRUE(ascending);
  const Workload workload = workload_of({{"n", 1000}});
  for (const std::size_t t : {0, 1}) {
    std::vector<double> values = values_of_input(spec, workload, t);
    EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values_of_input(*ascending, workload, t), values);
  }
  EXPECT_EQ(values_of_input(*ascending, workload, 2), values_of_input(spec, workload, 2)) << "no index";
}

TEST(InputValues, OnlyWhatSelectsElementsIsAnIndex) {
  KernelSpec spec = kernel_of({input("counted", DType::int32, "n", filled(Kind::range, "0", "99")),
                               input("sorted", DType::int32, "n", filled(Kind::sorted, "0", "99")),
                               input("x", DType::fp32, "n", filled(Kind::uniform))});
  spec.expect.formulas["y"] = formula("counted*x + x[sorted]");
  EXPECT_TRUE(index_inputs(spec).empty());
  EXPECT_FALSE(with_ascending_indices(spec));
  KernelSpec sparse = kernel_of({input("rows", DType::int32, "n + 1", filled(Kind::csr_rows, "n", "n")),
                                 input("cols", DType::int32, "n", {.kind = Kind::csr_columns, .rows = "rows"})});
  EXPECT_THAT(index_inputs(sparse), ElementsAre("cols")) << "also without a formula";
}

TEST(InputValues, TypesThatCannotHoldThemAreMistakes) {
  EXPECT_THAT(complaint(DType::int8, filled(Kind::constant, "300"), 4), mentions("s.yaml:3:10: ", "300", "int8"));
  EXPECT_THAT(complaint(DType::uint8, filled(Kind::range, "-1", "3"), 4), HasSubstr("uint8"));
  EXPECT_THAT(complaint(DType::int32, filled(Kind::range, "0", "n/3"), 4), HasSubstr("1.33"));
  EXPECT_THAT(complaint(DType::fp16, filled(Kind::sorted, "0", "1e6"), 4), HasSubstr("fp16"));
  EXPECT_THAT(complaint(DType::fp32, filled(Kind::range, "3", "2"), 4), HasSubstr("[3, 2]"));
  EXPECT_THAT(complaint(DType::fp32, filled(Kind::mask, "1.5"), 4), HasSubstr("1.5"));
  EXPECT_EQ(complaint(DType::uint8, filled(Kind::permutation), 256), "");
  EXPECT_THAT(complaint(DType::uint8, filled(Kind::permutation), 257), mentions("256", "uint8"));
  EXPECT_EQ(complaint(DType::fp16, filled(Kind::permutation), 2049), "");
  EXPECT_THAT(complaint(DType::fp16, filled(Kind::permutation), 2050), HasSubstr("fp16"));
  EXPECT_THAT(complaint(DType::fp32, filled(Kind::formula, "sum(i)"), 4), HasSubstr("s.yaml:3:10: "));
}

TEST(InputValues, SparseMatricesThatCannotBeAreMistakes) {
  const auto matrix = [](const std::string& nonzeros, const std::string& size, const std::string& rows) {
    InputFill columns{.kind = Kind::csr_columns, .rows = rows, .place = kValuesPlace};
    return complaint(kernel_of({input("row", DType::int32, "5", filled(Kind::csr_rows, nonzeros, "3")),
                                input("col", DType::int32, size, columns)}),
                     workload_of({}));
  };
  EXPECT_EQ(matrix("12", "12", "row"), "");
  EXPECT_THAT(matrix("13", "13", "row"), mentions("4 x 3", "13"));
  EXPECT_THAT(matrix("12", "11", "row"), mentions("'col'", "11", "12"));
  EXPECT_THAT(matrix("12", "12", "col"), HasSubstr("'col'"));
  EXPECT_THAT(complaint(DType::int32, filled(Kind::csr_rows, "1", "1"), 1), HasSubstr("2"));
}

TEST(InputValues, OnlyWhatHasNoOrderIsRepeated) {
  EXPECT_TRUE(is_repeatable(filled(Kind::range, "0", "1")));
  EXPECT_TRUE(is_repeatable({}));
  for (const Kind kind :
       {Kind::permutation, Kind::sorted, Kind::csr_rows, Kind::csr_columns, Kind::formula, Kind::npy}) {
    EXPECT_FALSE(is_repeatable(filled(kind)));
  }
}

}  // namespace
}  // namespace roofline
