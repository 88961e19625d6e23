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
