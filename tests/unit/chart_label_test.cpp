// Labels of the chart never touch each other, a marker or the edge; geometry that this rests on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "render/chart/chart.hpp"
#include "render/chart/labels.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

std::vector<Quad> marker_boxes(const Chart& chart) {
  std::vector<Quad> out;
  for (const PlottedPoint& p : chart.points) {
    const Vec at = chart.at(p.intensity, p.performance);
    out.push_back(Quad::from(Rect{at.x, at.y, 0, 0}.inflated(p.radius)));
  }
  return out;
}

/// Lines that lead from points to their labels.
std::vector<Line> leaders(const Chart& chart) {
  std::vector<Line> out;
  for (const Layer& layer : chart.scene.layers) {
    for (const Group& group : layer.groups) {
      if (group.classes != "point-label") continue;
      if (const Line* line = std::get_if<Line>(&group.items.front())) out.push_back(*line);
    }
  }
  return out;
}

/// Every text of the scene against every other, against the markers and leaders, and against the picture's edge.
void expect_no_overlap(const Report& report, const ChartOptions& options) {
  const Chart chart = lay_out_chart(report, options);
  const std::vector<const Text*> texts = chart.scene.texts();
  const Rect page = {0, 0, chart.scene.width, chart.scene.height};
  const std::vector<Quad> markers = marker_boxes(chart);
  std::vector<Quad> lines;
  for (const Line& leader : leaders(chart))
    lines.push_back(Quad::stroke(leader.points.front(), leader.points.back(), 0.5));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(page.contains(texts[i]->box().bounds())) << texts[i]->text << " leaves the page";
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(overlap(texts[i]->box(), texts[j]->box())) << texts[i]->text << " | " << texts[j]->text;
    // Among hundreds of marks a roof that limits them has its name all the same, under some.
    if (chart.points.size() < 100 || texts[i]->classes != "ceiling-name") {
      EXPECT_FALSE(overlaps_any(texts[i]->box(), markers)) << texts[i]->text << " lies on a marker";
    }
    EXPECT_FALSE(overlaps_any(texts[i]->box(), lines)) << texts[i]->text << " lies on a leader";
  }
}

TEST(ChartLabels, StandardSuiteIsNamedCompletelyWithoutOverlap) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {});
  EXPECT_EQ(chart.points.size(), 22u);
  EXPECT_EQ(chart.named, 22u);
  EXPECT_EQ(chart.numbered, 0u);
  expect_no_overlap(report, {});
}

TEST(ChartLabels, NoOverlapAtOtherSizes) {
  for (const auto& [width, height] : {std::pair{1600, 1000}, {1000, 700}, {800, 600}, {560, 480}}) {
    SCOPED_TRACE(width);
    expect_no_overlap(example::sample_report(), {.width = width, .height = height});
    expect_no_overlap(example::cpu_sample_report(), {.width = width, .height = height});
  }
}

TEST(ChartLabels, NoOverlapAmongSixtyRandomPoints) {
  for (unsigned seed = 1; seed <= 3; ++seed) expect_no_overlap(example::random_report(60, seed), {});
  const Report report = example::random_report(60);
  const Chart chart = lay_out_chart(report, {});
  EXPECT_GE(chart.named, 12u);
  EXPECT_GE(chart.named + chart.numbered, 55u);
  EXPECT_EQ(chart.key.size(), chart.numbered);
}

TEST(ChartLabels, NoOverlapAmongFiveHundredRandomPoints) {
  for (unsigned seed = 1; seed <= 2; ++seed) expect_no_overlap(example::random_report(500, seed), {});
}

TEST(ChartLabels, KeyHasEachNumberedPointOnceAndTheFootnoteCountsTheRest) {
  const Report report = example::random_report(500);
  const Chart chart = lay_out_chart(report, {});
  ASSERT_GE(chart.key.size(), 40u);
  EXPECT_EQ(chart.key.size(), chart.numbered);
  EXPECT_EQ(std::set<std::size_t>(chart.key.begin(), chart.key.end()).size(), chart.key.size());
  const std::size_t nameless = 500 - chart.named - chart.numbered;
  EXPECT_NE(render_svg(report).find(std::to_string(nameless) + " points"), std::string::npos);
}

TEST(ChartLabels, LeadersStayShort) {
  for (const int points : {60, 500}) {
    const Report report = example::random_report(points);
    for (const Line& leader : leaders(lay_out_chart(report, {})))
      EXPECT_LE(length(leader.points.back() - leader.points.front()), 60);
  }
}

/// Where marks lie on each other a leader that stops at an edge seems to end at another's.
TEST(ChartLabels, LeadersEndAtTheirOwnMark) {
  std::size_t leaders = 0;
  for (const Report& report : {example::sample_report(), example::random_report(60)}) {
    const Chart chart = lay_out_chart(report, {});
    for (const Layer& layer : chart.scene.layers) {
      for (const Group& group : layer.groups) {
        const Line* leader = group.classes == "point-label" ? std::get_if<Line>(&group.items.front()) : nullptr;
        if (leader == nullptr) continue;
        ++leaders;
        const auto own = std::find_if(chart.points.begin(), chart.points.end(), [&](const PlottedPoint& p) {
          return std::to_string(p.index) == group.data.front().second;
        });
        const double away = length(leader->points.front() - chart.at(*own));
        EXPECT_LE(away, own->radius + 2) << own->name;
        const bool among_others = std::any_of(chart.points.begin(), chart.points.end(), [&](const PlottedPoint& p) {
          return p.index != own->index && length(chart.at(p) - leader->points.front()) < p.radius;
        });
        if (!among_others) continue;
        EXPECT_EQ(away, 0) << own->name;
        EXPECT_EQ(layer.name, "labels over") << own->name;
      }
    }
  }
  EXPECT_GT(leaders, 12u);
}

TEST(ChartLabels, NamesTellImplementationsApartOnlyWhereThereAreSeveral) {
  const Report report = example::sample_report();
  const std::vector<PlottedPoint> points = plotted_points(report);
  EXPECT_EQ(points.front().name, "relu fp32");
  EXPECT_EQ(points.back().name, "gemm bf16 · cublas");
}

/// A ladder at two shapes: whatever is cut, the implementations' names are whole.
TEST(ChartLabels, ImplementationsKeepTheirNames) {
  Report report = example::around(example::h200(), "ladder");
  const std::vector<std::string> implementations = {"naive", "one_block_a_row_in_shared_memory", "cluster_of_blocks"};
  for (const std::string& implementation : implementations) {
    for (const std::int64_t rows : {1024, 16384}) {
      Point p = example::streaming(report.machine, "softmax", "normalisation", DType::bf16,
                                   {{"rows", rows}, {"cols", 65536}}, 5, 1, 1, 1e12);
      p.workload.implementation = implementation;
      report.points.push_back(p);
    }
  }
  const std::vector<PlottedPoint> points = plotted_points(report);
  std::set<std::string> names;
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NE(points[i].name.find("softmax bf16 · " + implementations[i / 2].substr(0, 12)), std::string::npos)
        << points[i].name;
    names.insert(points[i].name);
  }
  EXPECT_EQ(names.size(), points.size());
  EXPECT_EQ(points[0].name, "softmax bf16 · naive 1024×65536");
}

TEST(ChartLabels, PowersOfTwoAreWrittenAsTheRowsWriteThem) {
  Report report = example::around(example::h200(), "sizes");
  for (const std::int64_t n : {std::int64_t{1} << 29, std::int64_t{1} << 16, (std::int64_t{1} << 29) + 1})
    report.points.push_back(
        example::streaming(report.machine, "relu", "elementwise", DType::fp32, {{"n", n}}, 1, 1, 1, 4e12));
  report.points.push_back(example::gemm(report.machine, "cublas", DType::bf16, 4096, 7e14));
  report.points.push_back(example::gemm(report.machine, "cublas", DType::bf16, 8192, 7e14));
  const std::vector<PlottedPoint> points = plotted_points(report);
  EXPECT_EQ(points[0].name, "relu fp32 2^29");
  EXPECT_EQ(points[1].name, "relu fp32 65536");
  EXPECT_EQ(points[2].name, "relu fp32 536870913");
  EXPECT_EQ(points[3].name, "gemm bf16 4096³");
}

TEST(ChartLabels, ALabelStandsBesideALonePointWithoutALeader) {
  const LabelSpace space{.bounds = {0, 0, 400, 300}};
  const auto places = place_labels({{{200, 150}, 6, 60, 12}}, space);
  ASSERT_TRUE(places[0]);
  EXPECT_FALSE(places[0]->has_leader);
  EXPECT_GT(places[0]->box.x, 206);
  EXPECT_NEAR(places[0]->box.center().y, 150, 1);
}

TEST(ChartLabels, ALabelWithoutRoomIsLeftOut) {
  const LabelSpace full{.bounds = {0, 0, 400, 300}, .solid = {Quad::from({0, 0, 400, 300})}};
  EXPECT_FALSE(place_labels({{{200, 150}, 6, 60, 12}}, full)[0]);
  const LabelSpace small{.bounds = {0, 0, 40, 300}};
  EXPECT_FALSE(place_labels({{{20, 150}, 6, 60, 12}}, small)[0]);
}

TEST(ChartLabels, CoincidentPointsGetDifferentPlaces) {
  const LabelSpace space{.bounds = {0, 0, 400, 300}};
  const std::vector<LabelRequest> same(6, LabelRequest{{200, 150}, 6, 60, 12});
  const auto places = place_labels(same, space);
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_TRUE(places[i]);
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(places[i]->box.overlaps(places[j]->box));
  }
}

// Wide names of marks that nearly coincide, as a program's products do: more than there is room for.
TEST(ChartLabels, OfAClusterThoseWithoutRoomAreLeftOut) {
  for (int layout = 0; layout < 40; ++layout) {
    std::vector<LabelRequest> requests;
    for (int i = 0; i < 9; ++i) {
      const Vec anchor = {400 + 7.3 * std::sin(i * 12.9898 + layout), 120 + 5.1 * std::sin(i * 78.233 + layout)};
      requests.push_back({.anchor = anchor, .clearance = 9.7, .width = 260.3 + i, .height = 13.7, .reach = 74});
    }
    const auto places = place_labels(requests, {.bounds = {0, 60, 800, 200}});
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!places[i] || !places[j]) continue;
        EXPECT_FALSE(places[i]->box.overlaps(places[j]->box)) << layout;
      }
    }
  }
}

TEST(ChartGeometry, OverlapOfQuads) {
  const Quad a = Quad::from({0, 0, 10, 10});
  EXPECT_TRUE(overlap(a, Quad::from({5, 5, 10, 10})));
  EXPECT_TRUE(overlap(a, Quad::from({2, 2, 1, 1})));
  EXPECT_FALSE(overlap(a, Quad::from({10, 0, 5, 5})));  // a shared border is no overlap
  // The bounding boxes of these two overlap, the quads don't.
  const Quad turned = Quad::from({12, 0, 10, 2}).rotated(-45, {12, 12});
  EXPECT_TRUE(turned.bounds().overlaps(Rect{0, 0, 10, 10}));
  EXPECT_FALSE(overlap(Quad::stroke({8, 20}, {28, 0}, 1), Quad::from({0, 0, 12, 12})));
  EXPECT_TRUE(overlap(Quad::stroke({0, 20}, {20, 0}, 1), Quad::from({0, 0, 12, 12})));
}

TEST(ChartGeometry, ClippingOfSegments) {
  Vec a = {-10, 5}, b = {20, 5};
  ASSERT_TRUE(clip_segment(a, b, {0, 0, 10, 10}));
  EXPECT_EQ(a, (Vec{0, 5}));
  EXPECT_EQ(b, (Vec{10, 5}));
  a = {-10, 15}, b = {20, 15};
  EXPECT_FALSE(clip_segment(a, b, {0, 0, 10, 10}));
}

}  // namespace
}  // namespace roofline
