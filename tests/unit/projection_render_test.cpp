// Projections and bounds for people: one true sentence, tables that fit a terminal, and a page.
#include "render/projection_render.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "project/what_if.hpp"
#include "render/chart/chart.hpp"
#include "render/projection_tables.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/profile_report.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The sample's machine with main memory `factor` times as fast.
Machine with_memory(const Machine& machine, double factor, const std::string& name) {
  Machine other = machine;
  other.device.name = name;
  EXPECT_GT(scale_ceilings(other, "hbm.*", factor), 0U);
  return other;
}

struct Sample {
  explicit Sample(Report of, std::vector<Machine> onto) : report(std::move(of)), machines(std::move(onto)) {
    for (const Machine& machine : machines) projections.push_back(project(report, machine));
    prices.assign(machines.size(), 0);
  }
  Projections all() const { return {report, machines, projections, prices}; }

  Report report;
  std::vector<Machine> machines;
  std::vector<Projection> projections;
  std::vector<double> prices;
};

Sample slower_and_faster() {
  const Report report = example::sample_report();
  return Sample(report, {with_memory(report.machine, 0.7, "NVIDIA H100 80GB HBM3"),
                         with_memory(report.machine, 1.5, "NVIDIA B200")});
}

TEST(ProjectionHeadline, SaysHowLongAndWhatGainsMost) {
  const Sample sample = slower_and_faster();
  EXPECT_THAT(projection_headline(sample.report, sample.projections[0]),
              AllOf(StartsWith("On an H100 "), mentions(" instead of ", "as long; memory-bound", "lose most (1.")));
  EXPECT_THAT(projection_headline(sample.report, sample.projections[1]),
              AllOf(StartsWith("On a B200 "), mentions(" instead of ", "as fast; memory-bound", "gain most (1.")));
}

TEST(ProjectionHeadline, DoesNotNameAGroupWhereAllAreAlike) {
  const Report report = example::sample_report();
  const Projection same = project(report, report.machine);
  EXPECT_THAT(projection_headline(report, same), StartsWith("On another H200 "));
  EXPECT_THAT(projection_headline(report, same), HasSubstr("as fast as here."));
  EXPECT_THAT(projection_headline(report, same), Not(HasSubstr("most")));
}

TEST(ProjectionHeadline, AWhatIfIsNoOtherMachine) {
  const Report report = example::sample_report();
  Projection what_if = project(report, with_memory(report.machine, 1.5, report.machine.device.name));
  what_if.own = true;
  EXPECT_THAT(projection_headline(report, what_if), StartsWith("With these changes "));
}

TEST(ProjectedReport, HasTimesAndBoundsOfTheOtherMachineAndNoneWithoutWork) {
  Report report = example::sample_report();
  report.points[0].work = {};
  const Machine there = with_memory(report.machine, 0.5, "there");
  const Projection projection = project(report, there);
  const Report projected = projected_report(report, projection, there);
  ASSERT_EQ(projected.points.size(), report.points.size());
  EXPECT_FALSE(projected.points[0].time);
  EXPECT_EQ(projected.points[0].status, PointStatus::skipped);
  for (const ProjectedRow& row : projection.rows) {
    if (!row.why_range.empty()) continue;
    const Point& point = projected.points[row.point];
    EXPECT_DOUBLE_EQ(point.time->median, row.there.seconds);
    EXPECT_DOUBLE_EQ(point.time->ci95.high, row.there.high);
    const Point& here = report.points[row.point];
    EXPECT_DOUBLE_EQ(point.bound.arithmetic_intensity, here.bound.arithmetic_intensity);
    if (here.bound.label == BoundLabel::memory) {
      EXPECT_NEAR(point.bound.attainable_time_s / here.bound.attainable_time_s, 2, 0.01);
    }
  }
}

TEST(ProjectionChart, HasBothMachinesAndAnArrowForEachMovedKernel) {
  const Sample sample = slower_and_faster();
  const Report there = projected_report(sample.report, sample.projections[0], sample.machines[0]);
  const std::vector<Report> runs = {sample.report, there};
  ChartOptions options;
  options.projected = true;
  const Chart chart = lay_out_chart(runs, options);
  ASSERT_TRUE(chart.other);
  EXPECT_EQ(chart.other->name, "H200");
  EXPECT_EQ(chart.name, "H100");
  EXPECT_THAT(chart.scene.title, HasSubstr("NVIDIA H200 → NVIDIA H100 80GB HBM3"));
  std::size_t arrows = 0;
  std::vector<std::string> legend;
  for (const Layer& layer : chart.scene.layers) {
    if (layer.name == "changes") arrows = layer.groups.size();
    if (layer.name != "legend") continue;
    for (const Group& group : layer.groups)
      for (const Item& item : group.items)
        if (const Text* text = std::get_if<Text>(&item)) legend.push_back(text->text);
  }
  EXPECT_GE(arrows, 6U);
  EXPECT_THAT(legend, testing::Contains("H100, projected"));
}

TEST(ProjectionTerminal, FitsItsColumnsAndKeepsRangesAndLimits) {
  const Sample sample = slower_and_faster();
  for (const int columns : {72, 80, 120}) {
    std::istringstream lines(render_projections_terminal(sample.all(), {.columns = columns}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns) << line;
  }
  const std::string text = render_projections_terminal(sample.all(), {.columns = 80});
  EXPECT_THAT(text, HasSubstr("range"));
  EXPECT_THAT(text, HasSubstr("there by"));
  EXPECT_THAT(text, HasSubstr("against here")) << "several machines are ranked";
}

std::vector<std::string> machines_in(const TextTable& table) {
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(row.at(0));
  return names;
}

TEST(ProjectionRanking, IsByTimePriceOrEnergyAndWhatIsNotKnownIsLast) {
  Sample sample = slower_and_faster();
  sample.machines.push_back(with_memory(sample.report.machine, 0.9, "NVIDIA A100"));
  sample.projections.push_back(project(sample.report, sample.machines.back()));
  sample.projections[0].energy = Energy{1, false};
  sample.projections[1].energy = Energy{2, true};
  sample.projections[2].energy.reset();
  sample.prices = {1, 4, 0};
  Projections of = sample.all();
  const std::string h100 = "NVIDIA H100 80GB HBM3", b200 = "NVIDIA B200", a100 = "NVIDIA A100";
  EXPECT_THAT(machines_in(table_of_machines(of)), testing::ElementsAre(b200, a100, h100));
  of.ranking = Ranking::energy;
  EXPECT_THAT(machines_in(table_of_machines(of)), testing::ElementsAre(h100, b200, a100));
  EXPECT_EQ(table_of_machines(of).rows[1][5], "\u2264 2 J");
  EXPECT_EQ(table_of_machines(of).rows[2][5], "unknown");
  of.ranking = Ranking::price;
  EXPECT_THAT(machines_in(table_of_machines(of)), testing::ElementsAre(h100, b200, a100));
  sample.projections[1].here_s = 0;  // no row can run there
  of.ranking = Ranking::time;
  EXPECT_THAT(machines_in(table_of_machines(of)), testing::ElementsAre(a100, h100, b200));
  EXPECT_EQ(table_of_machines(of).rows[2][1], "\u2013");
}

TEST(ProjectionTerminal, SaysWhatCannotRunAndWhy) {
  Sample sample = slower_and_faster();
  Projection& first = sample.projections[1];
  first.rows[0].why_not = "B200 has no tensor.fp8 pipe";
  first.refused_s = first.rows[0].here_s;
  EXPECT_THAT(render_projections_terminal(sample.all(), {.columns = 100}), HasSubstr("can't run"));
  EXPECT_EQ(table_of_unprojected(sample.report, first, 9).rows.at(0).back(), "B200 has no tensor.fp8 pipe");
  first.program = true;
  EXPECT_THAT(projection_headline(sample.report, first),
              mentions("On a B200 ", "1 row can't run there", "B200 has no tensor.fp8 pipe"));
  EXPECT_EQ(ranked(sample.all()).back(), 1U);
}

TEST(ProjectionTerminal, NamesRowsWhoseLimitChanges) {
  Sample sample = slower_and_faster();
  Projection& first = sample.projections[1];
  EXPECT_TRUE(limit_change_texts(sample.report, project(sample.report, sample.report.machine)).empty());
  for (ProjectedRow& row : first.rows) row.limit_here = row.limit_there = "hbm.read";
  first.rows[0].limit_there = "fp32";
  const std::string& label = sample.report.points[first.rows[0].point].workload.label;
  const std::vector<std::string> texts = limit_change_texts(sample.report, first);
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_THAT(texts[0], mentions("1 row (", "memory-bound here", "compute-bound there", label + "."));
}

TEST(ProjectionPage, EscapesNamesAndListsWhatIsNotProjected) {
  Report report = example::sample_report();
  report.points[0].work = {};
  report.points[0].workload.label = "<img src=x onerror=x()>";
  const Sample sample(report, {with_memory(report.machine, 0.7, "</title><script>x()</script>")});
  const std::string html = render_projections_html(sample.all());
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(html, HasSubstr("id=\"unprojected\""));
  EXPECT_THAT(html, HasSubstr("its FLOPs and bytes are not known"));
  EXPECT_THAT(html, HasSubstr("class=\"roofline-chart\""));
  EXPECT_THAT(render_projections_html(slower_and_faster().all()), Not(HasSubstr("id=\"unprojected\"")));
}

TEST(ProjectionPage, OfAProfileNamesTheProgram) {
  const Report report = example::profile_report();
  const Sample sample(report, {with_memory(report.machine, 0.7, "NVIDIA H100 80GB HBM3")});
  EXPECT_THAT(render_projections_html(sample.all()), HasSubstr("train.py"));
}

}  // namespace
}  // namespace roofline
