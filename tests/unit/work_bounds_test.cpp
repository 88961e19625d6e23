// Stated work against its bounds, and what a report says of it.
#include "model/work_bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/findings.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

/// y = 2.5 x + y over a million fp32 elements.
WorkBounds saxpy_bounds() {
  return {.read_least = 8e6,
          .read_most = 8e6,
          .write_least = 4e6,
          .write_most = 4e6,
          .flops_least = 2e6,
          .flops_most = 2e6};
}

Work stated(double flops, double read, double write) {
  Work work;
  if (flops > 0) work.flops[Pipe::fp32] = flops;
  work.bytes[Level::dram] = {read, write};
  return work;
}

std::vector<WorkQuantity> wrong(const Work& work, const WorkBounds& bounds = saxpy_bounds()) {
  std::vector<WorkQuantity> quantities;
  for (const WorkMismatch& mismatch : mismatches(work, bounds)) quantities.push_back(mismatch.quantity);
  return quantities;
}

TEST(WorkBounds, RightWorkIsNotContradicted) {
  EXPECT_TRUE(wrong(stated(2e6, 8e6, 4e6)).empty());
  EXPECT_TRUE(wrong(stated(1.1e6, 8e6, 4e6)).empty()) << "fewer operations than a formula spells out";
  EXPECT_TRUE(wrong(stated(3.9e6, 8e6, 4e6)).empty()) << "another convention of counting";
}

TEST(WorkBounds, WrongAmountsAreFoundOneByOne) {
  using testing::ElementsAre;
  EXPECT_THAT(wrong(stated(20e6, 8e6, 4e6)), ElementsAre(WorkQuantity::flops));
  EXPECT_THAT(wrong(stated(0, 8e6, 4e6)), ElementsAre(WorkQuantity::flops));
  EXPECT_THAT(wrong(stated(2e6, 8e6 / 6, 4e6)), ElementsAre(WorkQuantity::read));
  EXPECT_THAT(wrong(stated(2e6, 8e6, 4e6 / 6000)), ElementsAre(WorkQuantity::write));
  EXPECT_THAT(wrong(stated(2e6, 16e6, 4e6)), ElementsAre(WorkQuantity::read));
}

TEST(WorkBounds, WithoutAFormulaFlopsAreNotJudged) {
  WorkBounds bounds = saxpy_bounds();
  bounds.flops_least = bounds.flops_most = std::nullopt;
  EXPECT_TRUE(wrong(stated(20e6, 8e6, 4e6), bounds).empty());
}

/// A product of 64 x 64 matrices: the formula needs an operation for each element, and as it is written 2 n^3.
TEST(ExecutedFlops, ContradictWhatIsStatedOfAProduct) {
  const WorkBounds formula = {.flops_least = 65536, .flops_most = 2 * 64. * 64 * 64};
  const ExecutedOperations executed = {.flops = {{Pipe::fp32, 2 * 64. * 64 * 64}}, .library_flops = 0, .integers = 9e4};
  const auto is_wrong = [&](double flops) {
    return contradicts(executed_flops(executed, stated(flops, 32768, 16384), formula));
  };
  EXPECT_FALSE(is_wrong(2 * 64. * 64 * 64));
  EXPECT_FALSE(is_wrong(64. * 64 * 64)) << "a multiply-add counted once";
  EXPECT_TRUE(is_wrong(0.2 * 64 * 64 * 64));
  EXPECT_TRUE(is_wrong(20 * 64. * 64 * 64));
  EXPECT_TRUE(is_wrong(0));
}

/// Exponentials are calls of a library, or twenty operations in a row: a suite counts them as one or as what they are.
TEST(ExecutedFlops, LeaveFunctionsToTheSuite) {
  const double n = 1e4;
  const WorkBounds formula = {.flops_least = 2 * n, .flops_most = 3000 * n, .compound_operations = 1000 * n};
  const ExecutedOperations called = {.flops = {{Pipe::fp32, 4 * n}}, .library_flops = 15 * n, .integers = 0};
  const ExecutedOperations inlined = {.flops = {{Pipe::fp32, 24 * n}}, .library_flops = 0, .integers = 0};
  for (const ExecutedOperations& executed : {called, inlined}) {
    for (const double flops : {5 * n, 20 * n})
      EXPECT_FALSE(contradicts(executed_flops(executed, stated(flops, 4 * n, 4 * n), formula))) << flops;
    EXPECT_TRUE(contradicts(executed_flops(executed, stated(50 * n, 4 * n, 4 * n), formula)));
  }
}

TEST(ExecutedFlops, ComparisonsAndIntegersMayCount) {
  const double n = 1e4;
  const ExecutedOperations compares = {.flops = {}, .library_flops = 0, .integers = 2 * n};
  EXPECT_FALSE(contradicts(executed_flops(compares, stated(n, 4 * n, 4 * n), {.flops_least = n, .flops_most = n})));
  Work integers = stated(0, 4 * n, 4 * n);
  integers.flops[Pipe::int32] = 2 * n;
  const WorkBounds formula = {.flops_least = 0, .flops_most = 2 * n, .integer_operations = 2 * n};
  EXPECT_FALSE(contradicts(executed_flops(compares, integers, formula)));
  EXPECT_FALSE(contradicts(executed_flops({.flops = {{Pipe::fp64, 3}}}, stated(0, 4 * n, 4 * n), {})))
      << "three operations of a whole launch";
}

TEST(WorkBounds, AnUntouchedBorderMayBeLeftOut) {
  WorkBounds bounds = saxpy_bounds();
  bounds.read_least = 7e6;
  EXPECT_TRUE(wrong(stated(2e6, 7e6, 4e6), bounds).empty());
  EXPECT_TRUE(wrong(stated(2e6, 8e6, 4e6), bounds).empty());
}

const Finding* mismatch_in(const Findings& found) {
  const auto finding =
      std::find_if(found.begin(), found.end(), [](const Finding& f) { return f.kind == FindingKind::work_mismatch; });
  return finding == found.end() ? nullptr : &*finding;
}

TEST(WorkBounds, AReportNamesTheRowWithBothNumbers) {
  Report report;
  Point& point = report.points.emplace_back();
  point.workload.label = "saxpy 2^20";
  point.status = PointStatus::ok;
  point.work = stated(2e6, 8e6, 4e6);
  Verification& verification = point.verification.emplace();
  verification.passed = true;
  verification.checked = verification.outputs = 1;
  verification.work = saxpy_bounds();
  EXPECT_EQ(mismatch_in(findings(report)), nullptr);
  point.work = stated(20e6, 8e6, 4e6);
  const Findings found = findings(report);
  ASSERT_NE(mismatch_in(found), nullptr);
  EXPECT_THAT(mismatch_in(found)->text, mentions("saxpy 2^20", "20 MFLOP", "2 MFLOP"));
}

}  // namespace
}  // namespace roofline
