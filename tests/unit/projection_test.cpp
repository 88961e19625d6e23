// Reports on other machines: rows at a roof scale with it, others do not, and steps keep their idle time.
#include "project/projection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/bound.hpp"
#include "project/what_if.hpp"
#include "tests/support/projection_machines.hpp"

namespace roofline {
namespace {

using example::bandwidth;
using example::compute;
using example::gpu;
using example::report_of;
using example::row;
using example::with_step;

double ratio_of(const Point& point, const Machine& onto) {
  const Projection projection = project(report_of({point}), onto);
  const ProjectedRow& row = projection.rows.at(0);
  EXPECT_LE(row.there.low, row.there.seconds);
  EXPECT_GE(row.there.high, row.there.seconds);
  return row.there.seconds / row.here_s;
}

TEST(Projection, ARowAtARoofScalesWithIt) {
  const Point memory = row("copy", 1e-3, 0.98 * 3e9);
  EXPECT_NEAR(ratio_of(memory, gpu("there", 4.5e12)), 3 / 4.5, 0.03);
  EXPECT_NEAR(ratio_of(memory, gpu("there", 1.5e12)), 2, 0.05);
  const Point product = row("product", 1e-3, 1e8, 0.95 * 60e9);
  EXPECT_NEAR(ratio_of(product, gpu("there", 4.5e12)), 1, 0.01);
  EXPECT_NEAR(ratio_of(product, gpu("there", 3e12, 120e12)), 0.5, 0.15);
}

TEST(Projection, ARowFarFromItsRoofsDoesNot) {
  EXPECT_NEAR(ratio_of(row("latency", 1e-3, 0.1 * 3e9), gpu("there", 6e12)), 1, 0.03);
  EXPECT_GT(ratio_of(row("short", 6e-6, 0.4 * 6e-6 * 3e12), gpu("there", 6e12)), 0.75);
}

TEST(Projection, OntoItselfItTakesAsLong) {
  const Report report = report_of({row("copy", 1e-3, 2e9), row("short", 5e-6, 1e6, 1e7)});
  for (const ProjectedRow& row : project(report, report.machine).rows) {
    EXPECT_NEAR(row.there.seconds, row.here_s, 1e-12);
    EXPECT_LT(row.there.low, row.here_s);
    EXPECT_GT(row.there.high, row.here_s);
  }
}

TEST(Projection, CountedBytesCountMoreThanModelledOnes) {
  Point point = row("gather", 1e-3, 0.1 * 3e9);
  point.counters.emplace();
  point.counters->values = {{"dram.read_bytes", 0.98 * 3e9}, {"dram.write_bytes", 0}};
  EXPECT_LT(ratio_of(point, gpu("there", 6e12)), 0.55);
}

TEST(Projection, WithoutWorkOnlyARangeIsKnown) {
  const Projection projection =
      project(report_of({row("unknown", 1e-3, 0), row("copy", 3e-3, 8.9e9)}), gpu("there", 6e12));
  const ProjectedRow& unknown = projection.rows.at(0);
  EXPECT_NE(unknown.why_range, "");
  EXPECT_DOUBLE_EQ(unknown.there.low, 0.5e-3);  // as main memory
  EXPECT_DOUBLE_EQ(unknown.there.high, 1e-3);   // as fp32
  EXPECT_NEAR(projection.projected_share, 0.75, 1e-9);
}

TEST(Projection, ADataSheetIsReachedAsFarAsHere) {
  Report report = report_of({row("copy", 1e-3, 0.98 * 3e9)});
  report.machine.ceilings[0].limit = Limit{3.3e12, "data sheet", 0};
  Machine there = gpu("there", 4.95e12);
  there.ceilings[0].origin = kDataSheetOrigin;
  EXPECT_NEAR(project(report, there).rows.at(0).there.seconds, 1e-3 * 3 / 4.5, 0.03e-3);
}

TEST(Projection, APipeThatIsNotThereHasAReason) {
  Machine there = gpu("there", 6e12);
  std::erase_if(there.ceilings, [](const Ceiling& ceiling) { return ceiling.name == "fp32"; });
  const Projection projection = project(report_of({row("product", 1e-3, 1e8, 0.9 * 60e9)}), there);
  EXPECT_THAT(projection.rows.at(0).why_range, testing::HasSubstr("fp32"));
}

/// A level that a small part of the time is for is assumed to be as fast; it is no limit that anybody knows.
TEST(Projection, ALevelWithoutARoofThereIsNoLimitThere) {
  Point point = row("norm", 1e-3, 0.3 * 3e9);
  point.work.bytes[Level::l2] = {.read = 0.45 * 8e9, .write = 0};
  for (const bool known : {true, false}) {
    Machine there = gpu("there", 12e12);
    if (!known) std::erase_if(there.ceilings, [](const Ceiling& ceiling) { return ceiling.name == "l2.read"; });
    const ProjectedRow projected = project(report_of({point}), there, {.at_roofs = true}).rows.at(0);
    EXPECT_EQ(projected.limit_there == "l2.read", known) << projected.limit_there;
  }
}

/// The sheet of a GPU with the same chip and other memory has the L2 roofs of the machine that was measured.
TEST(Projection, ADataSheetOfTheSameChipHasItsL2) {
  Report report = report_of({row("norm", 1e-3, 1e8)});
  report.points[0].work.bytes[Level::l2] = {.read = 0.9 * 8e9, .write = 0};
  const auto complete = [](Machine& machine, double l2_bytes) {
    machine.ceilings.push_back(compute("tensor.bf16", Pipe::tensor_bf16, 900e12));
    for (Ceiling& ceiling : machine.ceilings) ceiling.limit = Limit{ceiling.value, "data sheet", 0};
    machine.device.caches = {{.level = Level::l2, .bytes = l2_bytes}};
  };
  complete(report.machine, 50e6);
  for (const double l2_bytes : {50e6, 96e6}) {
    Machine sheet = gpu("sheet", 4.8e12);
    std::erase_if(sheet.ceilings, [](const Ceiling& ceiling) { return ceiling.name == "l2.read"; });
    complete(sheet, l2_bytes);
    for (Ceiling& ceiling : sheet.ceilings) ceiling.origin = kDataSheetOrigin;
    EXPECT_EQ(project(report, sheet).rows.at(0).why_range.empty(), l2_bytes == 50e6);
  }
}

TEST(Projection, AStepKeepsItsIdleTime) {
  const Report report = with_step(9e-3, 1e-3);
  const Projection faster = project(report, gpu("there", 6e12));
  ASSERT_TRUE(faster.step);
  EXPECT_NEAR(faster.step->here_s, 10e-3, 1e-9);
  EXPECT_GT(faster.step->there.seconds, 5.5e-3);
  EXPECT_LT(faster.step->there.seconds, 6.5e-3);
  ProjectionOptions options;
  options.no_gaps = true;
  EXPECT_NEAR(project(report, report.machine, options).step->there.seconds, 9e-3, 1e-6);
  options = {.at_roofs = true, .no_gaps = false};
  EXPECT_NEAR(project(report, report.machine, options).step->there.seconds, 0.98 * 9e-3 + 1e-3, 0.1e-3);
}

TEST(Projection, AHostThatIsTooSlowGainsLittle) {
  const Projection projection = project(with_step(3e-3, 7e-3), gpu("there", 6e12));
  EXPECT_GT(projection.step->there.seconds, 9e-3);
  EXPECT_NEAR(projection.step->there.high, 10e-3, 1e-6);
}

TEST(Projection, RoofsAreScaledByName) {
  Machine machine = gpu("here", 3e12);
  EXPECT_EQ(scale_ceilings(machine, "hbm.*", 1.5), 1U);
  EXPECT_DOUBLE_EQ(machine.find("hbm.read")->value, 4.5e12);
  EXPECT_DOUBLE_EQ(machine.find("fp32")->value, 60e12);
  EXPECT_EQ(scale_ceilings(machine, "warp", 2), 0U);
}

}  // namespace
}  // namespace roofline
