// Formulas: values, exactness, and every mistake at its column.
#include "user/formula.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const Place kFormulaPlace{"s.yaml", 3, 10};

std::int64_t size(const std::string& text, const Values& values = {}, std::int64_t minimum = 0) {
  return Formula(text, kFormulaPlace).size(values, minimum);
}

std::string message_of(const std::string& text, const Values& values = {}) {
  try {
    size(text, values);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Formula, ComputesSizes) {
  const Values values = {{"n", 1000}, {"block", 128}};
  EXPECT_EQ(size("ceil(n / (block * 4))", values), 2);
  EXPECT_EQ(size("2^20"), 1 << 20);
  EXPECT_EQ(size("2^3^2"), 512) << "powers bind from the right";
  EXPECT_EQ(size("32Ki"), 32768);
  EXPECT_EQ(size("3Mi + 1"), 3 * (1 << 20) + 1);
  EXPECT_EQ(size("n % block", values), 1000 % 128);
  EXPECT_EQ(size("ceil(n/block)*block", values), 1024);
  EXPECT_EQ(size("n > 3 && block == 128 ? 7 : 8", values), 7);
  EXPECT_EQ(size("min(n, block) - -1", values), 129);
  EXPECT_EQ(size("1e3"), 1000);
  EXPECT_EQ(size("1e+3"), 1000);
}

TEST(Formula, SignsBindLessThanPowersAndMoreThanProducts) {
  EXPECT_EQ(size("10 + -2 - 2"), 6);
  EXPECT_EQ(size("9 + -2^2"), 5);
  EXPECT_EQ(size("4 + -2 * -3"), 10);
  EXPECT_EQ(size("4 * 2^-1"), 2);
  EXPECT_EQ(size("--3"), 3);
}

TEST(Formula, OperatorsGroupFromTheLeftByTheirPrecedence) {
  EXPECT_EQ(size("10 - 4 - 3"), 3);
  EXPECT_EQ(size("48 / 4 / 3 * 2"), 8);
  EXPECT_EQ(size("1 + 2 * 3 ^ 2 % 5"), 4);
  EXPECT_EQ(size("2 + 1 > 2 == 1 || 0 && 0"), 1);
  EXPECT_EQ(size("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(size("0.5 && 1"), 1) << "every number but 0 is true";
}

TEST(Formula, OnlyTheOperandsThatAreNeededAreEvaluated) {
  const Values values = {{"n", 4}, {"zero", 0}};
  EXPECT_EQ(size("zero != 0 && n / zero > 1", values), 0);
  EXPECT_EQ(size("zero == 0 || n / zero > 1", values), 1);
  EXPECT_EQ(size("zero == 0 ? 7 : n / zero", values), 7);
}

TEST(Formula, FunctionsHaveKnownValues) {
  EXPECT_EQ(size("sum(1, 2, 3) + avg(2, 4, 9) + max(n, 7, 2) + min(4, 5)", {{"n", 3}}), 6 + 5 + 7 + 4);
  EXPECT_EQ(size("log2(1024) + round(exp(ln(5))) + abs(-3) + sign(-2)"), 10 + 5 + 3 - 1);
  EXPECT_THAT(message_of("sqrt(4, 9)"), HasSubstr("too many arguments"));
  EXPECT_THAT(message_of("min()"), StartsWith("s.yaml:3:14: "));
}

TEST(Formula, SizesAreExactUpTo2To53) {
  EXPECT_EQ(size("2^53"), kLargestSize);
  EXPECT_EQ(size("2^53 - 1"), kLargestSize - 1);
  EXPECT_THAT(message_of("2^53 + 1"), HasSubstr("larger than 2^53"));
  EXPECT_THAT(message_of("2^63"), HasSubstr("larger than 2^53"));
  EXPECT_THAT(message_of("n * n / n", {{"n", 0x1p40}}), HasSubstr("larger than 2^53"))
      << "what is lost on the way does not come back";
}

TEST(Formula, DivisionByZeroFractionsAndNegativesHaveTheirPlaceAndTheirValues) {
  EXPECT_THAT(message_of("n / zero", {{"n", 4}, {"zero", 0}}),
              mentions("s.yaml:3:12: ", "'n / zero'", "n = 4, zero = 0"));
  EXPECT_THAT(message_of("min(n / zero, 5)", {{"n", 4}, {"zero", 0}}), mentions("by zero"))
      << "also where the result would be finite";
  EXPECT_THAT(message_of("4 % (2 - 2)"), mentions("by zero"));
  EXPECT_THAT(message_of("n / 3", {{"n", 10}}), mentions("s.yaml:3:10: ", "'n / 3'", "3.333333"));
  EXPECT_THAT(message_of("2 - 3"), mentions("s.yaml:3:10: ", "'2 - 3'", "at least 0", "-1"));
  EXPECT_THAT(message_of("sqrt(0 - 1)"), HasSubstr("finite"));
}

TEST(Formula, MistakesAreNamedAtTheirColumn) {
  EXPECT_THAT(message_of("n *", {{"n", 1}}), StartsWith("s.yaml:3:13: "));
  EXPECT_THAT(message_of("n) + 1", {{"n", 1}}), StartsWith("s.yaml:3:11: unexpected ')'"));
  EXPECT_THAT(message_of("(n + 1", {{"n", 1}}), mentions("s.yaml:3:16: ", "')'"));
  EXPECT_THAT(message_of("n = 3", {{"n", 1}}), StartsWith("s.yaml:3:12: unexpected '='"));
  EXPECT_THAT(message_of("n ~ 3", {{"n", 1}}), StartsWith("s.yaml:3:12: unexpected '~'"));
  EXPECT_THAT(message_of("n ** 2", {{"n", 1}}), StartsWith("s.yaml:3:13: unexpected '*'"));
  // Signs of other languages.
  for (const char* bits : {"n & 3", "n | 3", "n >> 1", "n << 1", "n xor 3"})
    EXPECT_THAT(message_of(bits, {{"n", 1}}), HasSubstr("no bit operations")) << bits;
  EXPECT_THAT(message_of("n ** 2", {{"n", 1}}), HasSubstr("^"));
  EXPECT_THAT(message_of("n and 2", {{"n", 1}}), HasSubstr("&&"));
  EXPECT_THAT(message_of("argmax(n, 2)", {{"n", 1}}), HasSubstr("reductions"));
  EXPECT_THAT(message_of("foo(n)", {{"n", 1}}), StartsWith("s.yaml:3:10: unknown function 'foo'"));
  EXPECT_NE(message_of(""), "");
}

TEST(Formula, BombsAreRefused) {
  EXPECT_THAT(message_of(std::string(2000, '1')), HasSubstr("1000 characters"));
  EXPECT_THAT(message_of(std::string(200, '(') + "1" + std::string(200, ')')), HasSubstr("nested too deeply"));
  EXPECT_THAT(message_of(std::string(900, '-') + "1"), HasSubstr("nested too deeply"));
  std::string powers = "1", choices = "1";
  for (int i = 0; i < 90; ++i) powers += "^1", choices += "?1:1";
  EXPECT_THAT(message_of(powers), HasSubstr("nested too deeply"));
  EXPECT_THAT(message_of(choices), HasSubstr("nested too deeply"));
  std::string chain = "1";
  for (int i = 0; i < 499; ++i) chain += "+1";
  EXPECT_EQ(size(chain), 500) << "a chain of operators is not nested";
  EXPECT_NE(message_of("9^9^9^9"), "");
}

TEST(Formula, UnknownNamesAreNamedWithTheNearest) {
  const auto unknown = [](const std::string& text) -> std::string {
    try {
      Formula(text, kFormulaPlace).require_known({"rows", "columns", "i"}, {"x"});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(unknown("rows * columns + x[i]"), "");
  EXPECT_THAT(unknown("rows * colums"), mentions("s.yaml:3:17: ", "'colums'", "'rows * colums'", "'columns'"));
  EXPECT_THAT(unknown("y[i]"), HasSubstr("unknown tensor 'y'"));
  EXPECT_THAT(Formula("2*n + m - n", kFormulaPlace).names(), ElementsAre("n", "m"));
}

TEST(Formula, NumbersMayBeAnything) {
  EXPECT_DOUBLE_EQ(Formula("2.5 * n", kFormulaPlace).number({{"n", 1e30}}), 2.5e30);
  EXPECT_THROW(Formula("n / 0", kFormulaPlace).number({{"n", 1}}), UsageError);
}

ElementFormula::Tensor tensor(std::vector<double> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return {size,
          [values = std::move(values)](std::int64_t index) { return values.at(static_cast<std::size_t>(index)); }};
}

TEST(ElementFormula, ReadsElementsOfTensors) {
  const Formula formula("a[(i % rows) * columns + floor(i / rows)] + 2*x", kFormulaPlace);
  ElementFormula element(formula, {{"rows", 3}, {"columns", 4}},
                         {{"a", {12, [](std::int64_t index) { return 100.0 * static_cast<double>(index); }}},
                          {"x", tensor(std::vector(12, 0.25))}},
                         12);
  EXPECT_DOUBLE_EQ(element(5), 100 * (2 * 4 + 1) + 0.5);
}

TEST(ElementFormula, ATensorAndItsElementMayStandTogether) {
  const Formula formula("x - x[0]", kFormulaPlace);
  ElementFormula element(formula, {}, {{"x", tensor({3, 5})}}, 2);
  EXPECT_DOUBLE_EQ(element(1), 2);
  EXPECT_DOUBLE_EQ(element(0), 0);
}

TEST(ElementFormula, WhatATensorThrowsComesThrough) {
  const Formula formula("x[1]", kFormulaPlace);
  ElementFormula element(formula, {}, {{"x", {2, [](std::int64_t) -> double { throw std::domain_error("outside"); }}}},
                         1);
  EXPECT_THROW(element(0), std::domain_error);
}

TEST(ElementFormula, DividesAsIeeeSays) {
  const Formula formula("1 / x", kFormulaPlace);
  ElementFormula element(formula, {}, {{"x", tensor({0})}}, 1);
  EXPECT_TRUE(std::isinf(element(0)));
}

/// The bound of a formula of x and y, in arithmetic of fp32.
Expression::Bounded bounded(const std::string& text, double x, double y = 0, double roundoff = 0x1p-24) {
  ElementFormula formula(Formula(text, kFormulaPlace), {{"x", x}, {"y", y}}, {}, 1, 1000);
  return formula.bounded(0, roundoff);
}

TEST(FormulaBounds, AreSomeRoundingsOfTheResult) {
  const auto [value, error] = bounded("2.5*x + y", 0.3125, 0.1875);
  EXPECT_EQ(value, 0.96875);
  EXPECT_GE(error, 0x1p-24 * value);
  EXPECT_LE(error, 16 * 0x1p-24 * value);
}

TEST(FormulaBounds, FollowThePrecision) {
  EXPECT_LT(bounded("x / 3", 1, 0, 0x1p-53).error, 1e-15);
  EXPECT_GT(bounded("x / 3", 1, 0, 0x1p-24).error, 1e-8);
  EXPECT_EQ(bounded("x / 3", 1, 0, 0).error, 0);
}

TEST(FormulaBounds, HoldWhereTermsCancel) {
  // The products are rounded, and their difference is small.
  const float x = 1.2345678F, y = 1.2345673F;
  const double computed = static_cast<double>(x * x - y * y);
  const auto [value, error] = bounded("x*x - y*y", static_cast<double>(x), static_cast<double>(y));
  EXPECT_LE(std::abs(computed - value), error);
  EXPECT_GT(error, 0.01 * value);
}

TEST(FormulaBounds, WholeNumbersAreExact) {
  EXPECT_EQ(bounded("x*x + y", 3000, 7).error, 0);
  EXPECT_EQ(bounded("floor(x / 7) * 7 + x % 7", 700).error, 0);
  EXPECT_GT(bounded("x*x + y", 5000, 7).error, 0) << "more than 2^24";
}

TEST(FormulaBounds, RoundingMayGoBothWaysAtAHalfOnly) {
  EXPECT_EQ(bounded("rint(100*x)", 0.10500001).error, 1);
  EXPECT_EQ(bounded("rint(100*x)", 0.103).error, 0);
}

TEST(FormulaBounds, AConditionThatMayGoBothWaysHasBothResults) {
  EXPECT_GE(bounded("x*1.1 < 0.11 ? 0 : 5", 0.1).error, 5);
  EXPECT_LT(bounded("x*1.1 < 0.11 ? 0 : 5", 0.2).error, 1e-6);
}

TEST(FormulaBounds, AreNoNumbersBesideAPole) {
  EXPECT_TRUE(std::isinf(bounded("1 / (x*1.1 - 0.11)", 0.1).error) || bounded("1 / (x*1.1 - 0.11)", 0.1).error > 1e6);
  EXPECT_LT(bounded("1 / (x*1.1 - 0.11)", 0.7).error, 1e-5);
}

constexpr std::int64_t kSide = 8192;  // from element 2^24 on, fp32 has no longer every index

/// The bound of a formula of the fp32 matrices x and y, of kSide^2 elements: x[i] is i % 8, and y is -1.
Expression::Bounded bounded_of_matrix(const std::string& text, std::int64_t i) {
  const std::int64_t elements = kSide * kSide;
  ElementFormula formula(Formula(text, kFormulaPlace), {{"n", kSide}},
                         {{"x", {elements, [](std::int64_t index) { return static_cast<double>(index % 8); }}},
                          {"y", {elements, [](std::int64_t) { return -1.0; }}}},
                         elements);
  return formula.bounded(i, 0x1p-24);
}

TEST(FormulaBounds, TheBorderOfAStencilIsExactWhereFloatsRoundItsIndices) {
  const auto stencil = [](const std::string& last_row) {
    return "i % n > 0 && i % n < n - 1 && i >= n && i < " + last_row +
           " ? x[i - 1] + x[i + 1] + x[i - n] + x[i + n] : y";
  };
  const auto at = [&](std::int64_t i) { return bounded_of_matrix(stencil("n*(n - 1)"), i); };
  const std::int64_t end = kSide * kSide;
  for (const std::int64_t border : {end - 1, end - 15, end - kSide, end - kSide - 1, end - 2 * kSide, kSide - 1}) {
    EXPECT_EQ(at(border).value, -1) << border;
    EXPECT_EQ(at(border).error, 0) << border;
  }
  for (const std::int64_t inner : {end - kSide - 2, end - kSide - 9, end - 2 * kSide + 1}) {
    EXPECT_GE(at(inner).value, 0) << inner;
    EXPECT_EQ(at(inner).error, 0) << inner;
  }
  EXPECT_THROW(bounded_of_matrix(stencil("n*n"), end - 15), UsageError) << "a row too many";
}

TEST(FormulaBounds, ConditionsOnIndicesAreExactAndTheirValuesAsFloatsAreNot) {
  const std::int64_t odd = (std::int64_t{1} << 25) + 1;
  EXPECT_EQ(bounded_of_matrix("i == 2^25 ? 5 : 0", odd).error, 0);
  EXPECT_EQ(bounded_of_matrix("(i == 2^25)*5", odd).error, 0);
  EXPECT_EQ(bounded_of_matrix("i - 2^25 ? 5 : 0", odd).error, 0);
  EXPECT_EQ(bounded_of_matrix("floor(i / 2) < 2^24 ? 5 : 0", odd).error, 0);
  EXPECT_GE(bounded_of_matrix("i - 2^25", odd).error, 1);
  EXPECT_GE(bounded_of_matrix("i + x > 2^25 + 1 ? 5 : 0", odd).error, 5) << "a sum that is rounded";
}

TEST(FormulaBounds, OneCertainOperandDecides) {
  EXPECT_EQ(bounded("x*1.1 < 0.11 && y ? 5 : 0", 0.1, 0).error, 0);
  EXPECT_GE(bounded("x*1.1 < 0.11 && y ? 5 : 0", 0.1, 1).error, 5);
  EXPECT_EQ(bounded("x*1.1 < 0.11 || y ? 5 : 0", 0.1, 1).error, 0);
  EXPECT_GE(bounded("x*1.1 < 0.11 || y ? 5 : 0", 0.1, 0).error, 5);
}

TEST(FormulaBounds, AnOperandThatOnlyRoundingChoosesNeedNotExist) {
  const auto of_list = [](const std::string& text, double x) {
    return ElementFormula(Formula(text, kFormulaPlace), {{"x", x}}, {{"list", tensor({1, 1})}}, 1).bounded(0, 0x1p-24);
  };
  for (const char* text : {"x*1.1 < 0.11 ? list[2] : 7", "x*1.1 < 0.11 && list[2] ? 1 : 7"}) {
    EXPECT_EQ(of_list(text, 0.1).value, 7) << text;
    EXPECT_GE(of_list(text, 0.1).error, 6) << text;
    EXPECT_EQ(of_list(text, 0.2).error, 0) << text;
    EXPECT_THROW(of_list(text, 0.05), UsageError) << text;
  }
}

/// Of an element whose value is `x`, a 64-bit integer.
WholeResult whole_value(const std::string& text, std::int64_t x) {
  ElementFormula::Tensor tensor{.elements = 4, .at = [x](std::int64_t) { return static_cast<double>(x); }};
  tensor.whole = [x](std::int64_t) { return Whole{x}; };
  return ElementFormula(Formula(text, kFormulaPlace), {{"n", 4}}, {{"x", tensor}}, 4).whole(1);
}

void expect_whole(const std::string& text, std::int64_t x, Whole expected) {
  const WholeResult result = whole_value(text, x);
  EXPECT_EQ(result.status, WholeStatus::exact) << text;
  EXPECT_TRUE(result.value == expected) << text;
}

constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // no double

TEST(WholeFormula, IsExactWhereDoublesRound) {
  expect_whole("x", kOdd, kOdd);
  expect_whole("x + 1", kOdd, Whole{kOdd} + 1);
  expect_whole("x*x", kOdd, Whole{kOdd} * kOdd);
  expect_whole("9007199254740993", 0, kOdd);
  expect_whole("-x", kOdd, -Whole{kOdd});
  expect_whole("x % 2", kOdd, 1);
  expect_whole("(x + 2^60) - 2^60 == x", kOdd, 1);
  expect_whole("x == 9007199254740992", kOdd, 0);
  expect_whole("max(x, 9007199254740992)", kOdd, kOdd);
  expect_whole("x > 0 && x < 2^63 ? x : 0", kOdd, kOdd);
  expect_whole("x[3] * 2^60 % 2^64", kOdd, Whole{1} << 60);
}

TEST(WholeFormula, ReductionsAreExactAndNested) {
  expect_whole("sum(x)", kOdd, Whole{kOdd} * 4);
  expect_whole("sum[j < n](x[j] + j)", kOdd, Whole{kOdd} * 4 + 6);
  expect_whole("sum[j < n](sum[k < j](x[k]))", kOdd, Whole{kOdd} * 6);
  expect_whole("min(x) + max[j < n](j)", kOdd, Whole{kOdd} + 3);
  expect_whole("avg(x)", kOdd, kOdd);
  expect_whole("sum[j < 0](x[j])", kOdd, 0);
}

TEST(WholeFormula, QuotientsAreExactWhereTheyAreWholeOrRounded) {
  expect_whole("floor(x / 2)", kOdd, kOdd / 2);
  expect_whole("ceil(x / 2)", kOdd, kOdd / 2 + 1);
  expect_whole("floor(x / 2)", -7, -4);
  expect_whole("ceil(x / 2)", -7, -3);
  expect_whole("(x + 1) / 2", kOdd, (Whole{kOdd} + 1) / 2);
  EXPECT_EQ(whole_value("x / 2", kOdd).status, WholeStatus::fraction);
  EXPECT_EQ(whole_value("x / 0", kOdd).status, WholeStatus::fraction);
  EXPECT_EQ(whole_value("x + 0.5", kOdd).status, WholeStatus::fraction);
  EXPECT_EQ(whole_value("sqrt(x)", 4).status, WholeStatus::fraction);
}

TEST(WholeFormula, MoreThan127BitsAreNotKnown) {
  EXPECT_EQ(whole_value("2^127 * x", 2).status, WholeStatus::too_large);
  EXPECT_EQ(whole_value("2^200 % 7", 2).status, WholeStatus::too_large);
  EXPECT_EQ(whole_value("x*x*x % 1000", kOdd).status, WholeStatus::too_large);
  EXPECT_EQ(whole_value("sum[j < n](2^126)", 0).status, WholeStatus::too_large);
  expect_whole("2^126 - x", 1, (Whole{1} << 126) - 1);
}

TEST(WholeFormula, KnowsWhichFormulasAreNeverWhole) {
  const auto may_be = [](const std::string& text) {
    return ElementFormula(Formula(text, kFormulaPlace), {}, {}, 4).may_be_whole();
  };
  EXPECT_TRUE(may_be("i*i % 7"));
  EXPECT_TRUE(may_be("floor(i / 2)"));
  EXPECT_FALSE(may_be("0.5*i"));
  EXPECT_FALSE(may_be("exp(i)"));
}

}  // namespace
}  // namespace roofline
