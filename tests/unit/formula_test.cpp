// Formulas: values, exactness, and every mistake at its column.
#include "user/formula.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace roofline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const Place kPlace{"s.yaml", 3, 10};

std::int64_t size(const std::string& text, const Values& values = {}, std::int64_t minimum = 0) {
  return Formula(text, kPlace).size(values, minimum);
}

std::string complaint_of(const std::string& text, const Values& values = {}) {
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

TEST(Formula, SizesAreExactUpTo2To53) {
  EXPECT_EQ(size("2^53"), kLargestSize);
  EXPECT_EQ(size("2^53 - 1"), kLargestSize - 1);
  EXPECT_THAT(complaint_of("2^53 + 1"), HasSubstr("larger than 2^53"));
  EXPECT_THAT(complaint_of("2^63"), HasSubstr("larger than 2^53"));
  EXPECT_THAT(complaint_of("n * n / n", {{"n", 0x1p40}}), HasSubstr("larger than 2^53"))
      << "what is lost on the way does not come back";
}

TEST(Formula, DivisionByZeroFractionsAndNegativesHaveTheirPlaceAndTheirValues) {
  EXPECT_EQ(complaint_of("n / zero", {{"n", 4}, {"zero", 0}}),
            "s.yaml:3:10: 'n / zero': it divides by zero with n = 4, zero = 0");
  EXPECT_THAT(complaint_of("min(n / zero, 5)", {{"n", 4}, {"zero", 0}}), HasSubstr("divides by zero"))
      << "also where the result would be finite";
  EXPECT_THAT(complaint_of("4 % (2 - 2)"), HasSubstr("divides by zero"));
  EXPECT_EQ(complaint_of("n / 3", {{"n", 10}}), "s.yaml:3:10: 'n / 3' must be a whole number, and is 3.333333");
  EXPECT_EQ(complaint_of("2 - 3"), "s.yaml:3:10: '2 - 3' must be at least 0, and is -1");
  EXPECT_THAT(complaint_of("sqrt(0 - 1)"), HasSubstr("no number"));
}

TEST(Formula, MistakesAreNamedAtTheirColumn) {
  EXPECT_THAT(complaint_of("n *", {{"n", 1}}), StartsWith("s.yaml:3:13: "));
  EXPECT_THAT(complaint_of("n) + 1", {{"n", 1}}), StartsWith("s.yaml:3:11: unexpected ')'"));
  EXPECT_THAT(complaint_of("(n + 1", {{"n", 1}}), StartsWith("s.yaml:3:16: a ')' is missing"));
  EXPECT_THAT(complaint_of("n = 3", {{"n", 1}}), StartsWith("s.yaml:3:12: unexpected '='"));
  EXPECT_THAT(complaint_of("n ~ 3", {{"n", 1}}), StartsWith("s.yaml:3:12: unexpected '~'")) << "what muParser is given";
  EXPECT_THAT(complaint_of("n ** 2", {{"n", 1}}), HasSubstr("\"*"));
  EXPECT_THAT(complaint_of("foo(n)", {{"n", 1}}), StartsWith("s.yaml:3:1"));
  EXPECT_NE(complaint_of(""), "");
}

TEST(Formula, BombsAreRefused) {
  EXPECT_THAT(complaint_of(std::string(2000, '1')), HasSubstr("1000 characters"));
  EXPECT_THAT(complaint_of(std::string(200, '(') + "1" + std::string(200, ')')), HasSubstr("nested too deeply"));
  EXPECT_NE(complaint_of("9^9^9^9"), "");
}

TEST(Formula, UnknownNamesAreNamedWithTheNearest) {
  const auto unknown = [](const std::string& text) -> std::string {
    try {
      Formula(text, kPlace).require_known({"rows", "columns", "i"}, {"x"});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(unknown("rows * columns + x[i]"), "");
  EXPECT_EQ(unknown("rows * colums"), "s.yaml:3:17: unknown name 'colums' in 'rows * colums'; did you mean 'columns'?");
  EXPECT_THAT(unknown("y[i]"), HasSubstr("unknown tensor 'y'"));
  EXPECT_THAT(Formula("2*n + m - n", kPlace).names(), ElementsAre("n", "m"));
}

TEST(Formula, NumbersMayBeAnything) {
  EXPECT_DOUBLE_EQ(Formula("2.5 * n", kPlace).number({{"n", 1e30}}), 2.5e30);
  EXPECT_THROW(Formula("n / 0", kPlace).number({{"n", 1}}), UsageError);
}

TEST(ElementFormula, ReadsElementsOfTensors) {
  const Formula formula("a[(i % rows) * columns + floor(i / rows)] + 2*x", kPlace);
  ElementFormula element(formula, {{"rows", 3}, {"columns", 4}}, {{"a", [](double index) { return 100 * index; }}});
  *element.variable("i") = 5;
  *element.variable("x") = 0.25;
  EXPECT_DOUBLE_EQ(element(), 100 * (2 * 4 + 1) + 0.5);
  EXPECT_EQ(element.variable("y"), nullptr);
}

TEST(ElementFormula, ATensorAndItsElementMayStandTogether) {
  const Formula formula("x - x[0]", kPlace);
  ElementFormula element(formula, {}, {{"x", [](double) { return 3; }}});
  *element.variable("x") = 5;
  EXPECT_DOUBLE_EQ(element(), 2);
}

TEST(ElementFormula, WhatATensorThrowsComesThrough) {
  const Formula formula("x[1]", kPlace);
  const ElementFormula element(formula, {}, {{"x", [](double) -> double { throw Error("outside"); }}});
  EXPECT_THROW(element(), Error);
}

TEST(ElementFormula, DividesAsIeeeSays) {
  const Formula formula("1 / x", kPlace);
  ElementFormula element(formula, {}, {});
  EXPECT_TRUE(std::isinf(element()));
}

}  // namespace
}  // namespace roofline
