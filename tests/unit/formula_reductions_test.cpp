// Reductions in formulas: their values, what they cost, and every misuse at its column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/support/mentions.hpp"
#include "user/formula.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const Place kReductionPlace{"s.yaml", 3, 10};

using Tensors = std::map<std::string, std::vector<double>>;

std::map<std::string, ElementFormula::Tensor> readable(const Tensors& tensors) {
  std::map<std::string, ElementFormula::Tensor> result;
  for (const auto& [name, values] : tensors) {
    result[name] = {static_cast<std::int64_t>(values.size()),
                    [&values = values](std::int64_t index) { return values.at(static_cast<std::size_t>(index)); }};
  }
  return result;
}

std::vector<double> all(const std::string& text, const Tensors& tensors, std::int64_t outputs,
                        const Values& values = {}) {
  ElementFormula element(Formula(text, kReductionPlace), values, readable(tensors), outputs);
  std::vector<double> result;
  for (std::int64_t i = 0; i < outputs; ++i) result.push_back(element(i));
  return result;
}

double one(const std::string& text, const Tensors& tensors, const Values& values = {}) {
  return all(text, tensors, 1, values).front();
}

std::string message_of(const std::string& text, const Tensors& tensors, std::int64_t outputs,
                       const Values& values = {}) {
  try {
    all(text, tensors, outputs, values);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

const Tensors kTwo = {{"x", {1, 2, 3}}, {"y", {4, -5, 6}}};

TEST(Reduction, OverAllElementsOfTheTensorsInIt) {
  EXPECT_EQ(one("sum(x*y)", kTwo), 4 - 10 + 18);
  EXPECT_EQ(one("max(x*y) - min(y) + avg(x)", kTwo), 18 + 5 + 2);
  EXPECT_EQ(one("sum(y > 0)", kTwo), 2) << "a comparison is 1 or 0";
  EXPECT_EQ(one("sum(2*n*x)", kTwo, {{"n", 10}}), 120);
  EXPECT_EQ(one("sqrt(sum((x - avg(x))^2))", kTwo), std::sqrt(2));
  EXPECT_EQ(one("sum(x[0]*y)", kTwo), 5) << "an element with an index is the same for all";
  EXPECT_EQ(one("sum(x, 2, 3)", {{"x", {1}}}), 6) << "several arguments are added up";
}

TEST(Reduction, KeepsTheIndexOfTheOutput) {
  EXPECT_THAT(all("sum(x == i)", {{"x", {2, 0, 2, 1, 2}}}, 4), ElementsAre(1, 1, 3, 0));
  EXPECT_THAT(all("sum(x * (i % 2))", kTwo, 3), ElementsAre(0, 6, 0));
}

TEST(Reduction, OverAnIndex) {
  const Tensors matrix = {{"x", {1, 2, 3, 4, 5, 6}}};
  EXPECT_THAT(all("sum[j < cols](x[i*cols + j])", matrix, 2, {{"cols", 3}}), ElementsAre(6, 15));
  EXPECT_THAT(all("max[1 <= j < cols](x[i*cols + j] * -1)", matrix, 2, {{"cols", 3}}), ElementsAre(-2, -5));
  EXPECT_THAT(all("sum[ j<i ] ( 2 )", {}, 3), ElementsAre(0, 2, 4)) << "a sum of nothing is 0";
  EXPECT_EQ(one("avg[i + 1 <= j < 2*2](j)", {}), 2);
}

TEST(Reduction, OfAMatrixProduct) {
  const Tensors factors = {{"a", {1, 2, 3, 4}}, {"b", {5, 6, 7, 8}}};
  EXPECT_THAT(all("sum[k < K](a[floor(i/N)*K + k] * b[k*N + i%N])", factors, 4, {{"K", 2}, {"N", 2}}),
              ElementsAre(19, 22, 43, 50));
}

TEST(Reduction, BetweenRowPointers) {
  const Tensors csr = {{"row", {0, 2, 2, 3}}, {"col", {0, 2, 1}}, {"v", {10, 20, 30}}, {"x", {1, 2, 3}}};
  EXPECT_THAT(all("sum[row[i] <= k < row[i+1]](v[k] * x[col[k]])", csr, 3), ElementsAre(70, 0, 60));
}

TEST(Reduction, MayBeNested) {
  EXPECT_EQ(one("sum[j < 3](sum[k < j](j*10 + k))", {}), 10 + 20 + 21);
  EXPECT_EQ(one("sum[j < 2](sum(x * (j + 1)))", kTwo), 18) << "tensors within an index";
  EXPECT_EQ(one("sum(x * sum[j < 2](x + j))", kTwo), 1 * 3 + 2 * 5 + 3 * 7) << "an index within tensors";
  EXPECT_EQ(one("sum(x * max[j < 2](y[j]))", kTwo), 24);
  EXPECT_EQ(one("sum[j < 2](j) + sum[j < 3](j)", {}), 1 + 3) << "an index is known in its reduction only";
}

TEST(Reduction, ThatDoesNotChangeIsComputedOnce) {
  const Tensors x = {{"x", {0, 1, 2, 3, 4, 5, 6, 7}}};
  const auto steps = [&](const std::string& text) {
    ElementFormula element(Formula(text, kReductionPlace), {{"n", 8}}, readable(x), 8);
    for (std::int64_t i = 0; i < 8; ++i) element(i);
    return element.steps();
  };
  EXPECT_EQ(steps("x - max(x)"), 8);
  EXPECT_EQ(steps("x - max[j < n](x[j])"), 8 * 2);
  EXPECT_EQ(steps("x - max[j < n](x[j] * i)"), 8 * 8 * 4);
  EXPECT_EQ(steps("sum(x - max(x))"), 8 + 8 * 4) << "a reduction's own operations, and those of the loop around it";
  const auto shifted = all("exp(x - max(x)) / sum(exp(x - max(x)))", {{"x", {0, std::log(3)}}}, 2);
  EXPECT_DOUBLE_EQ(shifted[0], 0.25);
  EXPECT_DOUBLE_EQ(shifted[1], 0.75);
  EXPECT_THAT(all("sum[j < 2](max[k < 2](x[2*i + k]) - j)", {{"x", {1, 2, 8, 4}}}, 2), ElementsAre(3, 15))
      << "what depends on i alone is kept within an output, not longer";
  EXPECT_THAT(all("sum[j < 2](sum[k < 2](j*10 + i))", {}, 2), ElementsAre(20, 24));
}

TEST(Reduction, OfOneValueIsAMistake) {
  EXPECT_THAT(message_of("2 * sum(x[i] * n)", kTwo, 3, {{"n", 2}}), mentions("s.yaml:3:14: ", "sum(x)", "sum[j < n]"));
  EXPECT_THAT(message_of("max(n)", kTwo, 1, {{"n", 2}}), StartsWith("s.yaml:3:10: "));
  EXPECT_THAT(message_of("sum(avg(x))", kTwo, 1), StartsWith("s.yaml:3:10: ")) << "the average takes the tensor";
  EXPECT_THROW(Formula("min(4)", kReductionPlace).size({}), UsageError);
}

TEST(Reduction, OfTensorsOfDifferentSizesIsAMistake) {
  EXPECT_THAT(message_of("sum(x*y)", {{"x", {1, 2}}, {"y", {1, 2, 3}}}, 1),
              mentions("s.yaml:3:16: ", "'x'", "2", "'y'", "3"));
}

TEST(Reduction, ANameWithoutAnIndexNeedsAnElementForEveryOutput) {
  EXPECT_THAT(message_of("2*x", kTwo, 1), mentions("s.yaml:3:12: ", "x[0]", "sum(x)", "3 elements"));
  EXPECT_THAT(message_of("x*y", {{"x", {1, 2}}, {"y", {1}}}, 2), mentions("s.yaml:3:12: ", "1 element", "2"));
  EXPECT_THAT(message_of("sum[j < 3](x*y[j])", kTwo, 1), StartsWith("s.yaml:3:21: "));
  EXPECT_EQ(message_of("x", {{"x", {1}}}, 1), "");
  EXPECT_EQ(message_of("x + x[i + 1]", kTwo, 2), "");
}

TEST(Reduction, ElementsThatDoNotExistHaveTheirPlace) {
  EXPECT_THAT(message_of("1 + x[i + 2]", kTwo, 2), mentions("s.yaml:3:14: ", "x[3]", "3 elements", "i = 1"));
  EXPECT_THAT(message_of("x[0.5]", kTwo, 1), HasSubstr("x[0.5]"));
  EXPECT_THAT(message_of("sum[j < 4](y[j])", kTwo, 1), mentions("s.yaml:3:21: ", "y[3]"));
}

TEST(Reduction, BoundsAreWhole) {
  EXPECT_THAT(message_of("sum[j < n / 2](j)", {}, 1, {{"n", 3}}), HasSubstr("1.5"));
  EXPECT_THAT(message_of("sum[0/0 <= j < 2](j)", {}, 1), HasSubstr("bound"));
  EXPECT_THAT(message_of("max[3 <= j < i](j)", {}, 1), mentions("s.yaml:3:10: ", "no elements"));
  EXPECT_THAT(message_of("avg[j < 0](j)", {}, 1), HasSubstr("no elements"));
}

TEST(Reduction, ItsIndexIsANewName) {
  const auto unknown = [](const std::string& text) -> std::string {
    try {
      Formula(text, kReductionPlace).require_known({"n", "i"}, {"x"});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(unknown("sum[j < n](x[j])"), "");
  EXPECT_THAT(unknown("1 + sum[n < 3](1)"), mentions("s.yaml:3:18: ", "'n'"));
  EXPECT_THAT(unknown("sum[x < 3](1)"), HasSubstr("'x'"));
  EXPECT_THAT(unknown("sum[i < 3](1)"), HasSubstr("'i'"));
  EXPECT_THAT(unknown("sum[j < 3](1) + j"), mentions("s.yaml:3:26: ", "'j'"));
  EXPECT_THAT(unknown("sum[j < j](1)"), StartsWith("s.yaml:3:18: unknown name 'j'")) << "not known in its own bounds";
  EXPECT_THAT(unknown("sum[j < 3](sum[j < 2](1))"), StartsWith("s.yaml:3:25: "));
  EXPECT_THAT(unknown("sum[sqrt < 3](1)"), StartsWith("s.yaml:3:14: "));
}

TEST(Reduction, TheUpperBoundMayBeIncluded) {
  EXPECT_EQ(one("sum[j <= 3](j)", {}), 6);
  EXPECT_EQ(one("sum[2 <= j <= 3](j)", {}), 5);
  EXPECT_EQ(one("sum[j <= 1 + 1](j) * 10", {}), 30);
  EXPECT_THAT(all("sum[j <= i](x[j])", {{"x", {1, 2, 4}}}, 3), ElementsAre(1, 3, 7)) << "sums of all elements so far";
  EXPECT_THAT(all("sum[r[i] <= j <= r[i + (0 < 1)]](j)", {{"r", {1, 2, 4}}}, 2), ElementsAre(3, 9));
}

/// What evaluations keep for the next ones changes no value, in whatever order elements are asked for.
TEST(Reduction, ValuesThatAreKeptAreThoseOfAFreshFormula) {
  Tensors tensors;
  for (int k = 0; k < 40; ++k) {
    tensors["x"].push_back((k * 7) % 10);
    tensors["y"].push_back(std::sin(k));
    tensors["r"].push_back(k / 3);
  }
  const Values values = {{"n", 40}};
  for (const std::string text : {"sum[k <= i](x[k])",
                                 "sum[k <= i](y[k] * y[k])",
                                 "avg[k <= i](y[k])",
                                 "max[k <= i](y[k])",
                                 "min[k <= i](y[k])",
                                 "sum[i <= k < n](y[k])",
                                 "sum[r[i] <= k <= i](y[k])",
                                 "sum[k <= i](x[k] * i)",
                                 "sum[k <= i](x[k] + y)",
                                 "sum[k <= i](sum[j <= k](x[j]))",
                                 "sum[k < 3](sum[j <= i](x[j] * k))",
                                 "sum(x == i)",
                                 "sum(i == x)",
                                 "sum(x == i % 10)",
                                 "sum[k < n](x[k] == i)",
                                 "sum(floor(10*y) == i)",
                                 "sum(y == i)",
                                 "sum(x == r)",
                                 "sum[k <= i](x[k] == 3)",
                                 "sum[k < n](x[k] == i) / sum(x)",
                                 "sum(x == sum[k <= i](1))",
                                 "sum(x == i ? y : 0)",
                                 "sum[k < n](i == x[k] && y[k] > 0 ? y[k] * x[r[k]] : 0)",
                                 "sum[k < n](x[k] == r[i] ? x[k] + i : 0)",
                                 "sum[k < n](x[k] == 3 ? sum[j <= k](y[j]) : 0)",
                                 "sum[k < n](y[k] == i ? x[k] : 0)",
                                 "sum[k < n](x[k] == i ? y[k] : 1)"}) {
    const Formula formula(text, kReductionPlace);
    for (const double roundoff : {0.0, 0x1p-24}) {
      ElementFormula kept(formula, values, readable(tensors), 40);
      for (const std::int64_t i : {0, 1, 2, 5, 5, 9, 39, 3, 4, 38, 0, 39}) {
        ElementFormula fresh(formula, values, readable(tensors), 40), plain = fresh, exact = fresh;
        const Expression::Bounded a = kept.bounded(i, roundoff), b = fresh.bounded(i, roundoff);
        EXPECT_EQ(a.value, b.value) << text << ' ' << i;
        EXPECT_EQ(a.error, b.error) << text << ' ' << i;
        EXPECT_EQ(kept(i), plain(i)) << text << ' ' << i;
        const WholeResult c = kept.whole(i), d = exact.whole(i);
        EXPECT_EQ(c.status, d.status) << text << ' ' << i;
        EXPECT_EQ(static_cast<double>(c.value), static_cast<double>(d.value)) << text << ' ' << i;
      }
    }
  }
}

TEST(Reduction, RunningSumsAndHistogramsAreOnePassOverTheirData) {
  Tensors tensors;
  for (int k = 0; k < 1000; ++k) tensors["x"].push_back(k % 10);
  for (const std::string text :
       {"sum[k <= i](x[k])", "sum(x == i)", "sum[k < 1000](k > 3 && x[k] == i ? x[k] * k : 0)"}) {
    ElementFormula element(Formula(text, kReductionPlace), {}, readable(tensors), 1000);
    for (std::int64_t i = 0; i < 1000; ++i) element.whole(i);
    EXPECT_LE(element.steps(), 30 * 1000) << text;
  }
}

/// Elements of a sparse matrix in any order, each with its row and column.
TEST(Reduction, AddsTheTermsWhoseKeyIsTheOutputs) {
  Tensors tensors;
  std::vector<double> expected(8), absent(8);
  for (int k = 0; k < 40; ++k) {
    tensors["row"].push_back((k * 7) % 8);
    tensors["col"].push_back((k * 5) % 3);
    tensors["v"].push_back(std::sin(k));
    if (k < 3) tensors["x"].push_back(k + 0.5);
    const double term = std::sin(k) * ((k * 5) % 3 + 0.5);
    expected[static_cast<std::size_t>((k * 7) % 8)] += k < 30 ? term : 0;
    absent[static_cast<std::size_t>((k * 7) % 8)] += k < 30 && k % 2 == 0 ? term : 0;
  }
  const auto sums = [&](const std::string& text) { return all(text, tensors, 8, {{"nnz", 30}}); };
  EXPECT_THAT(sums("sum[k < nnz](row[k] == i ? v[k] * x[col[k]] : 0)"),
              testing::Pointwise(testing::DoubleNear(1e-15), expected));
  EXPECT_THAT(sums("sum[k < nnz](k % 2 == 0 && row[k] == i ? v[k] * x[col[k]] : 0)"),
              testing::Pointwise(testing::DoubleNear(1e-15), absent));
  EXPECT_THAT(sums("sum[k < nnz](row[k] == i + 8 ? v[k] : 0)"), testing::Each(0));
}

TEST(Reduction, OtherFormsAreErrors) {
  for (const std::string text :
       {"sum[j](j)", "sum[0 < j < 3](j)", "sum[0 <= j == 3](j)", "sum[0 <= j < 3 < 4](j)", "sum[j >= 3](j)",
        "sum[3](1)", "sum[](1)", "sum[j < 3]", "sum[j < 3 (j)", "sum[j < 3](", "sum[j < 3](j, j)"}) {
    EXPECT_THAT(message_of(text, {}, 1), StartsWith("s.yaml:3:")) << text;
  }
}

TEST(Reduction, IsBounded) {
  ElementFormula endless(Formula("1 + sum[j < 2^53](j)", kReductionPlace), {}, {}, 1, 1000);
  EXPECT_THROW(endless(0), UsageError);
  ElementFormula nests(Formula("sum[j < 20](sum[k < 20](j*k))", kReductionPlace), {}, {}, 1, 1000);
  EXPECT_THROW(nests(0), UsageError) << "all loops count";
  EXPECT_THROW(Formula("sum[j < 2^40](1)", kReductionPlace).size({}), UsageError);
  std::string nested = "1";
  for (int i = 0; i < 60; ++i) nested = "sum[j" + std::to_string(i) + "<9](" + nested + ")";
  EXPECT_THAT(message_of(nested, {}, 1), HasSubstr("nested too deeply"));
}

TEST(Reduction, OfSizesIsExact) {
  const auto size = [](const std::string& text) { return Formula(text, kReductionPlace).size({{"n", 4}}); };
  EXPECT_EQ(size("sum[k < n](2^k)"), 15);
  EXPECT_EQ(size("max[k < n](n*k - k^2) + avg[k < n + 1](k)"), 4 + 2);
  EXPECT_THROW(size("sum[k < 3](2^52)"), UsageError);
  EXPECT_THAT(Formula("sum[k < n](m*k) + n", kReductionPlace).names(), ElementsAre("n", "m"));
}

TEST(Reduction, OfManySmallTermsKeepsThem) {
  const std::vector<double> tenths(1000001, 0.1);
  EXPECT_NEAR(one("sum(x)", {{"x", tenths}}), 100000.1, 1e-8);
}

/// Of a sum in fp32, with its bound.
Expression::Bounded bounded_sum(const std::vector<float>& terms) {
  const auto count = static_cast<std::int64_t>(terms.size());
  const Expression::Tensor x = {
      count, [&](std::int64_t i) { return static_cast<double>(terms[static_cast<std::size_t>(i)]); }};
  return ElementFormula(Formula("sum(x)", {}), {}, {{"x", x}}, 1, 1 << 24).bounded(0, 0x1p-24);
}

TEST(FormulaBounds, OfASumHoldForOneThatIsRoundedTermByTerm) {
  std::vector<float> mixed, equal(100000, 0.1F);
  for (int i = 0; i < 100000; ++i) mixed.push_back(std::sin(static_cast<float>(i) * 1.7F));
  for (const auto& terms : {mixed, equal}) {
    float sum = 0;
    for (const float term : terms) sum += term;
    const auto [value, error] = bounded_sum(terms);
    EXPECT_LE(std::abs(static_cast<double>(sum) - value), error);
  }
  EXPECT_LT(bounded_sum(mixed).error, 0.1) << "less than a term, or a missing one would pass";
}

TEST(FormulaBounds, OfACountAreExact) { EXPECT_EQ(bounded_sum(std::vector<float>(1000, 1)).error, 0); }

}  // namespace
}  // namespace roofline
