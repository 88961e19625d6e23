// Ladders and sweeps: which rows belong together, and which only look so.
#include "report/series.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Point row(const std::string& op, const std::string& implementation, Shape shape, DType type = DType::fp32) {
  Point p;
  p.workload = example::workload(op, implementation, type, std::move(shape));
  p.time = example::timed(1e-3);
  return p;
}

Report report_of(std::vector<Point> points) {
  Report r;
  r.points = std::move(points);
  return r;
}

Point softmax(std::int64_t rows, std::int64_t cols) {
  return row("softmax", "online", {{"rows", rows}, {"cols", cols}});
}

TEST(Series, ImplementationsOfOneShapeAreALadderInTheRunsOrder) {
  const Shape shape = {{"m", 64}, {"n", 64}};
  const std::vector<Series> series =
      series_of(report_of({row("gemm", "naive", shape), row("relu", "cuda", {{"n", 64}}), row("gemm", "tiled", shape),
                           row("gemm", "best", shape), row("gemm", "naive", shape, DType::fp16),
                           row("gemm", "tiled", {{"m", 8}, {"n", 8}})}));
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0].kind, SeriesKind::ladder);
  EXPECT_EQ(series[0].name, "gemm fp32 64x64");
  EXPECT_THAT(series[0].points, ElementsAre(0, 2, 3));
}

TEST(Series, ALadderNeedsTwoTimedImplementations) {
  const Shape shape = {{"n", 64}};
  EXPECT_THAT(series_of(report_of({row("gemm", "naive", shape), row("gemm", "naive", shape)})), IsEmpty());
  Report report = report_of({row("gemm", "naive", shape), row("gemm", "tiled", shape)});
  EXPECT_EQ(series_of(report).size(), 1u);
  report.points[1].time.reset();
  EXPECT_THAT(series_of(report), IsEmpty());
  report = report_of({row("gemm", "naive", shape), row("gemm", "tiled", shape)});
  report.points[1].workload.cache = CacheMode::hot;
  EXPECT_THAT(series_of(report), IsEmpty());
}

TEST(Series, SizesThatGrowTogetherAreASweepFromTheSmallest) {
  const std::vector<Series> series = series_of(report_of({softmax(64, 256), softmax(16, 64), softmax(32, 128)}));
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0].kind, SeriesKind::sweep);
  EXPECT_EQ(series[0].name, "softmax fp32 online");
  EXPECT_THAT(series[0].points, ElementsAre(1, 2, 0));
}

TEST(Series, AnExtentMayStayWhereAnotherGrows) {
  EXPECT_EQ(series_of(report_of({softmax(8, 64), softmax(8, 128), softmax(8, 256)})).size(), 1u);
}

TEST(Series, TwoSizesAreNoSweep) { EXPECT_THAT(series_of(report_of({softmax(8, 64), softmax(8, 128)})), IsEmpty()); }

TEST(Series, ShapesThatDifferInAnotherWayAreNoSweep) {
  // One shrinks where the other grows, and one stands still on a part of the way: the layers of a network.
  EXPECT_THAT(series_of(report_of({softmax(64, 8), softmax(32, 16), softmax(16, 32)})), IsEmpty());
  EXPECT_THAT(series_of(report_of({softmax(8, 64), softmax(8, 128), softmax(16, 256)})), IsEmpty());
}

TEST(Series, APointOfASweepIsInNoLadder) {
  std::vector<Point> points = {softmax(8, 64), softmax(16, 128), softmax(32, 256)};
  points.push_back(row("softmax", "plain", {{"rows", 8}, {"cols", 64}}));
  points.push_back(row("softmax", "other", {{"rows", 8}, {"cols", 64}}));
  const std::vector<Series> series = series_of(report_of(points));
  ASSERT_EQ(series.size(), 2u);
  EXPECT_THAT(series[0].points, ElementsAre(0, 1, 2));
  EXPECT_EQ(series[1].kind, SeriesKind::ladder);
  EXPECT_THAT(series[1].points, ElementsAre(3, 4));
}

}  // namespace
}  // namespace roofline
