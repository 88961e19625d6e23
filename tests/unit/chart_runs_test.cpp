// What connects points: runs laid over each other, ladders and sweeps drawn as paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "render/chart/chart.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

const Layer* layer(const Chart& chart, const std::string& name) {
  for (const Layer& l : chart.scene.layers)
    if (l.name == name) return &l;
  return nullptr;
}

/// Groups of a layer whose classes begin so.
std::vector<const Group*> groups(const Chart& chart, const std::string& name) {
  std::vector<const Group*> out;
  if (const Layer* found = layer(chart, name))
    for (const Group& g : found->groups) out.push_back(&g);
  return out;
}

std::string data_of(const Group& group, const std::string& key) {
  for (const auto& [k, v] : group.data)
    if (k == key) return v;
  return "";
}

Color fill_of(const Group& point) {
  const auto fill = [](const auto& shape) -> std::optional<Color> {
    if constexpr (std::is_same_v<std::decay_t<decltype(shape)>, Text>)
      return std::nullopt;
    else
      return shape.fill;
  };
  // The mark is the last shape but the dot in its centre.
  for (auto item = std::next(point.items.rbegin()); item != point.items.rend(); ++item)
    if (const auto found = std::visit(fill, *item)) return *found;
  return {};
}

/// The standard suite twice; the first row four times faster, the second half as fast, all others as before.
std::vector<Report> two_runs() {
  std::vector<Report> runs = {example::sample_report(), example::sample_report()};
  runs[1].invocation.started_at = "2026-02-01T10:00:00Z";
  const auto scale = [&](std::size_t i, double by) {
    runs[1].points[i].time = example::timed(runs[1].points[i].time->median * by);
  };
  scale(0, 2);
  scale(12, 0.25);
  scale(3, 1.02);  // its markers lie on each other
  return runs;
}

TEST(ChartRuns, EarlierPointsAreHollowAndTheLastSolid) {
  const std::vector<Report> runs = two_runs();
  const Chart chart = lay_out_chart(runs, {});
  std::size_t hollow = 0, solid = 0;
  for (const Group* g : groups(chart, "points")) {
    const bool earlier = data_of(*g, "run") == "0";
    (earlier ? hollow : solid) += 1;
    EXPECT_EQ(fill_of(*g).role == "bg", earlier) << g->id;
    EXPECT_EQ(g->id, (earlier ? "run-0-point-" : "point-") + data_of(*g, "point"));
  }
  EXPECT_EQ(hollow, 22u);
  EXPECT_EQ(solid, 22u);
  EXPECT_EQ(chart.named + chart.numbered, 22u);  // labels are the last run's
}

TEST(ChartRuns, ArrowsGoWhereTheMarkersLieApart) {
  const std::vector<Report> runs = two_runs();
  const Chart chart = lay_out_chart(runs, {});
  std::vector<std::string> moved;
  for (const Group* g : groups(chart, "changes")) moved.push_back(data_of(*g, "point"));
  EXPECT_THAT(moved, testing::ElementsAre("0", "12"));
  // Slower is lower: the first arrow's head is below its tail.
  const Group& slower = *groups(chart, "changes").front();
  const Line &path = std::get<Line>(slower.items.front()), &head = std::get<Line>(slower.items.back());
  EXPECT_GT(head.points.front().y, path.points.front().y);
}

TEST(ChartRuns, LegendTellsWhichIsWhich) {
  const std::string svg = render_svg(two_runs());
  EXPECT_THAT(svg, testing::HasSubstr(">before (2026-01-15)</text>"));
  EXPECT_THAT(svg, testing::HasSubstr(">now (2026-02-01)</text>"));
  const std::string one = render_svg(example::sample_report());
  EXPECT_THAT(one, testing::Not(testing::HasSubstr(">now (")));
  EXPECT_THAT(one, testing::Not(testing::HasSubstr("data-run")));
  std::vector<Report> same_day = two_runs();
  same_day[1].invocation.started_at = "2026-01-15T17:45:00Z";
  EXPECT_THAT(render_svg(same_day), testing::HasSubstr(">before (2026-01-15 09:32)</text>"));
}

TEST(ChartRuns, AxesHoldThePointsOfAllRuns) {
  std::vector<Report> runs = {example::cpu_sample_report(), example::cpu_sample_report()};
  runs[0].points[0].time = example::timed(runs[0].points[0].time->median * 1e4);
  const Chart chart = lay_out_chart(runs, {});
  EXPECT_TRUE(chart.y.contains(chart.earlier[0][0].performance));
  EXPECT_LT(chart.y.range().low, lay_out_chart(runs[1], {}).y.range().low);
}

TEST(ChartRuns, LaddersAreJoinedFromThePlainestToTheBest) {
  const Report report = example::sample_report();  // gemm in three types by cuda, then by cublas
  const Chart chart = lay_out_chart(report, {});
  std::vector<std::string> ladders;
  for (const Group* g : groups(chart, "trajectories")) ladders.push_back(data_of(*g, "series"));
  EXPECT_THAT(ladders, testing::Contains("gemm bf16 4096x4096x4096"));
  const std::string svg = render_svg(report);
  EXPECT_THAT(svg, testing::HasSubstr("data-series=\"gemm fp16 4096x4096x4096\" data-points=\"16 20\""));
  EXPECT_THAT(render_svg(example::cpu_sample_report()), testing::Not(testing::HasSubstr("class=\"trajectory\"")));
  EXPECT_THAT(render_svg(two_runs()), testing::Not(testing::HasSubstr("class=\"trajectory\"")));
}

TEST(ChartRuns, PathsLieUnderMarkersAndLabels) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {});
  std::vector<std::string> order;
  for (const Layer& l : chart.scene.layers) order.push_back(l.name);
  const auto place = [&](const char* name) { return std::find(order.begin(), order.end(), name) - order.begin(); };
  EXPECT_LT(place("trajectories"), place("labels"));
  EXPECT_LT(place("labels"), place("points"));
}

/// The first run's main memory is slower, on a machine of that name.
std::vector<Report> two_machines(const std::string& name) {
  std::vector<Report> runs = two_runs();
  runs[0].machine.device.name = name;
  for (Ceiling& ceiling : runs[0].machine.ceilings)
    if (ceiling.level == Level::hbm) ceiling.value *= 0.7;
  return runs;
}

std::vector<std::string> texts_of(const Chart& chart, const std::string& name) {
  std::vector<std::string> out;
  for (const Group* group : groups(chart, name))
    for (const Item& item : group->items)
      if (const Text* text = std::get_if<Text>(&item)) out.push_back(text->text);
  return out;
}

TEST(ChartMachines, BothAreNamedAndTheRoofsThatDifferAreDrawn) {
  const std::vector<Report> runs = two_machines("NVIDIA H100 80GB HBM3");
  const Chart chart = lay_out_chart(runs, {});
  ASSERT_TRUE(chart.other);
  EXPECT_THAT(chart.scene.title, testing::StartsWith("NVIDIA H100 80GB HBM3 → NVIDIA H200"));
  EXPECT_THAT(texts_of(chart, "other-roofs"), testing::Contains(testing::StartsWith("H100 HBM")));
  EXPECT_THAT(texts_of(chart, "other-roofs"), Not(testing::Contains(testing::HasSubstr("tensor")))) << "they are alike";
  EXPECT_THAT(texts_of(chart, "ceilings"), testing::Contains(testing::StartsWith("H200 HBM")));
  EXPECT_THAT(chart.subtitle, testing::StartsWith("H100 → H200: "));
  for (const Group* group : groups(chart, "other-roofs"))
    for (const Item& item : group->items)
      if (const Line* line = std::get_if<Line>(&item)) {
        EXPECT_EQ(line->stroke->color.role, "roof-other");
      }
}

TEST(ChartMachines, OneMachineCalibratedAnewIsBeforeAndNow) {
  const std::vector<Report> runs = two_machines("NVIDIA H200");
  const Chart chart = lay_out_chart(runs, {});
  ASSERT_TRUE(chart.other);
  EXPECT_THAT(texts_of(chart, "other-roofs"), testing::Contains(testing::StartsWith("before HBM")));
}

TEST(ChartMachines, WithTheSameRoofsThereIsOneSetOfThem) {
  const std::vector<Report> runs = two_runs();
  const Chart chart = lay_out_chart(runs, {});
  EXPECT_FALSE(chart.other);
  EXPECT_EQ(layer(chart, "other-roofs"), nullptr);
  EXPECT_THAT(texts_of(chart, "ceilings"), Not(testing::Contains(testing::StartsWith("H200"))));
}

}  // namespace
}  // namespace roofline
