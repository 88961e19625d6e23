// Two runs compared: identical ones are the same, a scaled one is found with its size, and noise is not news.
#include "report/comparison/compare_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "render/comparison_ci.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/comparison/row_conditions.hpp"
#include "report/findings.hpp"
#include "report/json/json.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/sample_report.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void scale_time(Point& point, double factor) {
  if (!point.time) return;
  Summary& time = *point.time;
  for (double* value : {&time.median, &time.ci95.low, &time.ci95.high, &time.min, &time.max}) *value *= factor;
}

Report scaled(Report report, double factor) {
  for (Point& point : report.points) scale_time(point, factor);
  return report;
}

/// Every interval as wide as that on either side.
Report with_intervals(Report report, double half_width) {
  for (Point& point : report.points) {
    if (!point.time) continue;
    point.time->ci95 = {point.time->median * (1 - half_width), point.time->median * (1 + half_width)};
  }
  return report;
}

std::size_t how_many(const std::vector<PointChange>& changes, Change kind) {
  return static_cast<std::size_t>(
      std::count_if(changes.begin(), changes.end(), [&](const PointChange& c) { return c.change == kind; }));
}

/// Kernels of a suite, which are ops (`scale`) or implementations of one (`mine`), by `kernel:`, with their shapes.
TEST(CompareRuns, SarifPointsToTheWorkload) {
  Report report = example::sample_report();
  report.invocation.suite_text =
      "name: own\n"
      "kernels:\n"
      "  - name: scale  # of kernel: scales\n"
      "workloads:\n"
      "  - op: relu\n"
      "    shape: { n: 1000 }\n"
      "  - { kernel: scales, shape: { n: 2^16 } }\n"
      "  - kernel: \"scale\"\n"
      "    shape: { n: 2^16 }\n"
      "  - { shape: { n: 4096 }, kernel: scale }\n"
      "  - { kernel: scale, shape: { n: 2^22 } }\n"
      "  - {kernel: mine, shape: {rows: 8, cols: [1024, 8192]}}\n";
  const Point timed = report.points[0];
  const auto row = [&](const char* op, const char* implementation, Shape shape) {
    Point point = timed;
    point.workload.op = op;
    point.workload.implementation = implementation;
    point.workload.shape = std::move(shape);
    point.workload.label = point.workload.op + " fp32 " + std::to_string(point.workload.shape.extents()[0].second);
    return point;
  };
  report.points = {row("relu", "vectorized", {{"n", 1000}}), row("scale", "scale", {{"n", 1 << 16}}),
                   row("scale", "scale", {{"n", 1 << 22}}), row("softmax", "mine", {{"rows", 8}, {"cols", 8192}})};
  const Report slower = scaled(report, 2);
  const auto sarif = nlohmann::json::parse(render_comparison_sarif(comparison_of(report, slower)));
  std::vector<int> lines;
  for (const auto& result : sarif["runs"][0]["results"]) {
    lines.push_back(result["locations"][0]["physicalLocation"]["region"]["startLine"]);
  }
  EXPECT_THAT(lines, ::testing::UnorderedElementsAre(5, 8, 11, 12));
}

TEST(CompareRuns, IdenticalRunsAreTheSame) {
  const Report report = example::sample_report();
  const std::vector<PointChange> changes = compare_runs(report, report);
  ASSERT_EQ(changes.size(), report.points.size());
  EXPECT_EQ(how_many(changes, Change::same), 22U);
  EXPECT_EQ(how_many(changes, Change::untimed), 2U);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(changes[i].before, i);
    EXPECT_EQ(changes[i].now, i);
    EXPECT_FALSE(regressed(changes[i], 0));
  }
}

TEST(CompareRuns, AScaledRunIsFoundWithItsSize) {
  const Report before = example::sample_report();
  for (const PointChange& change : compare_runs(before, scaled(before, 1.05))) {
    if (change.change == Change::untimed) continue;
    EXPECT_EQ(change.change, Change::slower);
    EXPECT_NEAR(change.time_ratio, 1.05, 1e-12);
    // Both medians are known to 0.2 %: the ends are 1.05 * 0.998 / 1.002 and 1.05 * 1.002 / 0.998.
    EXPECT_NEAR(change.ratio_ci95.low, 1.045808, 1e-6);
    EXPECT_NEAR(change.ratio_ci95.high, 1.054208, 1e-6);
    EXPECT_TRUE(regressed(change, 0.03));
    EXPECT_FALSE(regressed(change, 0.06));
  }
  const std::vector<PointChange> back = compare_runs(scaled(before, 1.05), before);
  EXPECT_EQ(how_many(back, Change::faster), 22U);
}

TEST(CompareRuns, WithinTheIntervalsThereIsNoDifference) {
  const Report before = with_intervals(example::sample_report(), 0.03);
  const std::vector<PointChange> changes = compare_runs(before, scaled(before, 1.05));
  EXPECT_EQ(how_many(changes, Change::same), 22U);
  for (const PointChange& change : changes) EXPECT_FALSE(regressed(change, 0.03));
}

TEST(CompareRuns, BelowTheThresholdThereIsNoDifference) {
  const Report before = example::sample_report();
  EXPECT_EQ(how_many(compare_runs(before, scaled(before, 1.008)), Change::same), 22U);
  EXPECT_EQ(how_many(compare_runs(before, scaled(before, 1.008), 0.005), Change::slower), 22U);
}

TEST(CompareRuns, RowsAreMatchedByWhatWasRunAndNotByTheirPlace) {
  const Report before = example::sample_report();
  Report now = before;
  std::reverse(now.points.begin(), now.points.end());
  const std::vector<PointChange> changes = compare_runs(before, now);
  EXPECT_EQ(how_many(changes, Change::same), 22U);
  EXPECT_EQ(changes.front().before, before.points.size() - 1);
}

/// A kernel that chooses the fastest is one row, whichever configuration won.
TEST(CompareRuns, RowsWithDifferentWinnersAreOneWorkload) {
  Report before, now;
  before.points = {example::sample_report().points[0]};
  before.points[0].workload.implementation = "block=128";
  now = before;
  now.points[0].workload.implementation = "block=256";
  EXPECT_EQ(how_many(compare_runs(before, now), Change::only_before), 1U) << "the suite asks for each";
  before.points[0].tried = {{"block=128", 1e-3}, {"block=256", 2e-3}};
  now.points[0].tried = {{"block=256", 1e-3}, {"block=128", 2e-3}};
  const std::vector<PointChange> changes = compare_runs(before, now);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].change, Change::same);
  const RowConditions differ = conditions_of(&before.points[0], &now.points[0]);
  EXPECT_EQ(differ.configuration_before, "block=128");
  EXPECT_EQ(differ.configuration_now, "block=256");
  EXPECT_FALSE(differ.empty());
  EXPECT_TRUE(conditions_of(&now.points[0], &now.points[0]).configuration_now.empty());
}

TEST(CompareRuns, WhatStandsTwiceIsMatchedInOrder) {
  Report before;
  before.points = {example::sample_report().points[0], example::sample_report().points[0]};
  Report now = before;
  scale_time(now.points[1], 2);
  const std::vector<PointChange> changes = compare_runs(before, now);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].change, Change::same);
  EXPECT_EQ(changes[1].change, Change::slower);
  EXPECT_EQ(changes[1].before, 1U);
  now.points.push_back(now.points[0]);
  EXPECT_EQ(how_many(compare_runs(before, now), Change::only_now), 1U);
}

TEST(CompareRuns, MissingFailedAndRenamedRows) {
  const Report before = example::sample_report();
  Report now = before;
  now.points[0] = example::without_time(now.points[0], PointStatus::failed, "wrong");
  now.points[1] = example::without_time(now.points[1], PointStatus::skipped, "no such type");
  now.points[2].workload.label = "renamed";
  now.points.erase(now.points.begin() + 3);
  const Comparison comparison = comparison_of(before, now);
  EXPECT_EQ(comparison.changes.size(), before.points.size() + 1);  // the renamed row is there from both sides
  const auto row = [&](std::size_t index, bool of_now) {
    return *std::find_if(comparison.changes.begin(), comparison.changes.end(),
                         [&](const PointChange& c) { return (of_now ? c.now : c.before) == index; });
  };
  EXPECT_EQ(verdict(comparison, row(0, true)), "failed now");
  EXPECT_TRUE(comparison.is_regression(row(0, true)));
  EXPECT_EQ(verdict(comparison, row(1, true)), "skipped now");
  EXPECT_FALSE(comparison.is_regression(row(1, true)));
  EXPECT_EQ(verdict(comparison, row(2, true)), "only now");
  EXPECT_EQ(verdict(comparison, row(2, false)), "only before");
  EXPECT_EQ(verdict(comparison, row(3, false)), "only before");
  EXPECT_FALSE(comparison.is_regression(row(3, false)));
  EXPECT_TRUE(std::isnan(row(3, false).time_ratio));
  EXPECT_THAT(regression_line(comparison), mentions("1 kernel ", "failed now", "relu fp32"));
  EXPECT_EQ(verdict(comparison_of(now, before), comparison_of(now, before).changes[0]), "failed before");
}

TEST(CompareRuns, NoCommonRowAndNoRowAtAll) {
  Report other;
  other.points = {example::sample_report().points[0]};
  other.points[0].workload.op = "another";
  const Report before = example::sample_report();
  const Comparison comparison = comparison_of(before, other);
  EXPECT_THAT(comparison_findings(comparison),
              ElementsAre(HasSubstr("no timed kernel"), HasSubstr("not timed"),
                          mentions("only before", "relu fp32 268435456"), HasSubstr("only now")));
  const Report nothing;
  EXPECT_THAT(render_comparison_terminal(comparison_of(nothing, nothing), {}), HasSubstr("no timed kernel"));
}

TEST(CompareRuns, TimesThatAreNoTimesAreNotCompared) {
  const Report before = example::sample_report();
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    Report now = before;
    now.points[0].time->median = bad;
    EXPECT_EQ(compare_runs(before, now)[0].change, Change::only_before);
  }
  Report now = before;
  now.points[0].time->ci95 = {};  // one sample: no interval
  EXPECT_EQ(compare_runs(before, now)[0].change, Change::same);
}

TEST(Comparison, TheGateNamesWhatGotSlower) {
  const Report before = example::sample_report();
  Report now = before;
  scale_time(now.points[9], 1.05);
  scale_time(now.points[10], 1.02);
  scale_time(now.points[20], 0.9);
  const Comparison comparison = comparison_of(before, now);
  EXPECT_THAT(
      regression_line(comparison),
      AllOf(mentions("1 of 22", "slower", "3 %", "softmax fp32 32768x4096 (cuda) 1.050x"), Not(mentions(" and "))));
  EXPECT_THAT(comparison_findings(comparison),
              ElementsAre(mentions("2 of 22", "slower", "softmax fp32 32768x4096 (cuda)", "1.05\u00d7"),
                          mentions("1 of 22", "faster", "gemm fp16 4096x4096x4096 (cublas)", "0.90\u00d7"),
                          mentions("19 of 22"), mentions("not timed", "gemm tf32"), mentions("one run")));
  EXPECT_EQ(verdict(comparison, comparison.changes[9]), "slower > 3 %");
  EXPECT_EQ(verdict(comparison, comparison.changes[10]), "slower");
  EXPECT_EQ(ratio_text(comparison.changes[9]), "1.050");
  EXPECT_EQ(ratio_interval(comparison.changes[9]), "1.046–1.054");
  EXPECT_EQ(regression_line(comparison_of(before, now, 0.06)), "");
  EXPECT_EQ(regression_line(comparison_of(before, before, 0)), "");
}

TEST(Comparison, AnotherMachineMayBeSlowerWithoutALimit) {
  const Report before = example::sample_report();
  Report now = before;
  now.machine.device.name = "Another GPU";
  scale_time(now.points[9], 1.5);
  now.points[0] = example::without_time(now.points[0], PointStatus::failed, "wrong");
  Comparison comparison = comparison_of(before, now);
  EXPECT_EQ(regression_line(comparison), "");
  EXPECT_EQ(verdict(comparison, comparison.changes[9]), "slower");
  EXPECT_EQ(render_comparison_junit(comparison).find("<failure"), std::string::npos);
  const auto json = nlohmann::json::parse(render_comparison_json(comparison));
  EXPECT_EQ(json["judged"], false);
  EXPECT_EQ(json["regressions"], 0);
  comparison.gate = true;
  EXPECT_THAT(regression_line(comparison), mentions("softmax fp32 32768x4096 (cuda) 1.500x", "failed now"));
  EXPECT_EQ(nlohmann::json::parse(render_comparison_json(comparison))["regressions"], 2);
}

TEST(Comparison, AStricterGateThanUsualIsNotContradictedByItsTable) {
  const Report before = example::sample_report();
  const Report now = scaled(before, 1.006);
  const Comparison strict = comparison_of(before, now, 0.005);
  EXPECT_THAT(regression_line(strict), mentions("22 of 22", "slower", "0.5 %"));
  EXPECT_THAT(regression_line(strict), HasSubstr("and 14 more"));
  EXPECT_EQ(verdict(strict, strict.changes[0]), "slower > 0.5 %");
}

TEST(Comparison, NotesSayWhatElseIsDifferent) {
  Report before = example::sample_report();
  for (Point& point : before.points) {
    if (point.time) point.time->clock_hz = 2e9;
  }
  EXPECT_THAT(comparison_notes(before, before), IsEmpty());
  Report now = before;
  now.machine.device.name = "NVIDIA H100";
  now.machine.device.driver = "";
  now.machine.measured_at = "2026-02-01T00:00:00Z";
  now.invocation.tool_version = "0.3.0";
  now.cancelled = true;
  for (Point& point : now.points) {
    if (point.time) point.time->clock_hz = 1.5e9;
  }
  EXPECT_THAT(comparison_notes(before, now),
              ElementsAre(mentions("device", "NVIDIA H200 before, NVIDIA H100 now"),
                          mentions("driver", "580.159.04 before, not known now"),
                          mentions("version", "0.1.0 before, 0.3.0 now"),
                          mentions("calibration", "2026-01-15T09:30:00Z before, 2026-02-01T00:00:00Z now"),
                          mentions("clock", "2 GHz before, 1.5 GHz now"), mentions("later", "cancelled")));
  Report near = before;
  for (Point& point : near.points) {
    if (point.time) point.time->clock_hz = *point.time->clock_hz * 1.005;
  }
  EXPECT_THAT(comparison_notes(before, near), IsEmpty());
}

TEST(Comparison, TheHeadlineSaysHowManyOnWhichMachine) {
  const Report before = example::sample_report();
  EXPECT_EQ(comparison_headline(comparison_of(before, before)), "no difference in 22 kernels");
  Report now = before;
  const auto scale = [&](std::size_t i, double by) {
    now.points[i].time = example::timed(before.points[i].time->median * by);
  };
  scale(3, 0.5);
  scale(4, 0.8);
  scale(13, 1.25);
  EXPECT_EQ(comparison_headline(comparison_of(before, now)), "2 of 22 faster, up to 2.00×; 1 slower, 1.25×");
  EXPECT_EQ(comparison_headline(comparison_of(now, before)), "2 of 22 slower, up to 2.00×; 1 faster, 1.25×");
  now.machine.device.name = "NVIDIA H100 80GB HBM3";
  EXPECT_THAT(comparison_headline(comparison_of(before, now)), testing::StartsWith("H200 → H100: 2 of 22 faster"));
  now.points[5].status = PointStatus::failed;
  now.points[5].time.reset();
  EXPECT_THAT(comparison_headline(comparison_of(before, now)), testing::EndsWith("; 1 timed before and failed now"));
  for (Point& point : now.points) point.time.reset();
  EXPECT_THAT(comparison_headline(comparison_of(before, now)), testing::HasSubstr("no kernel was timed in both"));
}

TEST(Comparison, PassesAndFailsOnlyWhereALimitWasAskedFor) {
  const Report before = example::sample_report();
  Report now = before;
  now.points[3].time = example::timed(before.points[3].time->median * 1.5);
  Comparison comparison = comparison_of(before, now);
  const auto outputs = [&] {
    return outcome_line(comparison) + render_comparison_markdown(comparison) +
           render_comparison_terminal(comparison, {.columns = 100});
  };
  EXPECT_THAT(outputs(), testing::Not(testing::ContainsRegex("[Ff]ail|[Pp]ass")));
  EXPECT_THAT(outcome_line(comparison), mentions("1 of 22", "3 %")) << "as the exit status";
  comparison.gate = true;
  EXPECT_THAT(outcome_line(comparison), testing::StartsWith("Fail: 1 of 22"));
  EXPECT_THAT(render_comparison_markdown(comparison), testing::HasSubstr("| fail |"));
  EXPECT_THAT(render_comparison_terminal(comparison, {.columns = 100}), testing::HasSubstr("  fail: slower > 3 %"));
}

TEST(Comparison, TheVerdictStandsInOnePlace) {
  const Report before = example::sample_report();
  Report now = before;
  now.points[3].time = example::timed(before.points[3].time->median * 1.5);
  now.points[4].time = example::timed(before.points[4].time->median * 0.5);
  Comparison comparison = comparison_of(before, now);
  for (const bool gate : {false, true}) {
    comparison.gate = gate;
    const std::string text = render_comparison_terminal(comparison, {.unicode = true, .columns = 400});
    const std::string verdict = outcome_line(comparison);
    ASSERT_NE(text.find(verdict), std::string::npos) << text;
    EXPECT_EQ(text.find(verdict, text.find(verdict) + 1), std::string::npos);
    EXPECT_EQ(text.find("22 kernels", text.find(verdict) + verdict.size()), std::string::npos) << "nor in other words";
  }
}

TEST(Comparison, TheLargestChangeComesFirstInBothDirections) {
  const Report before = example::sample_report();
  Report now = before;
  const std::vector<double> factors = {0.9, 0.5, 0.7, 1.1, 1.5, 1.3};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    now.points[i + 2].time = example::timed(before.points[i + 2].time->median * factors[i]);
  }
  std::vector<double> ratios;
  const Comparison comparison = comparison_of(before, now);
  for (const PointChange* change : worst_first(comparison)) {
    if (change->change == Change::slower || change->change == Change::faster) ratios.push_back(change->time_ratio);
  }
  const std::vector<double> expected = {1.5, 1.3, 1.1, 0.5, 0.7, 0.9};
  ASSERT_EQ(ratios.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(ratios[i], expected[i], 1e-9) << i;
}

TEST(Comparison, ThereIsNoVerdictOverARunWithoutAnEnd) {
  const Report before = example::sample_report();
  Report now = before;
  now.complete = false;
  now.rows_planned = 99;
  const std::string rows = std::to_string(now.points.size());
  EXPECT_THAT(comparison_notes(before, now), ElementsAre(mentions("later", rows + " of 99")));
  EXPECT_THAT(comparison_notes(now, before), ElementsAre(mentions("earlier", rows + " of 99")));
  EXPECT_THAT(outcome_line(comparison_of(before, now)), testing::StartsWith("No verdict"));
  Comparison gate = comparison_of(now, before);
  gate.gate = true;
  EXPECT_THAT(outcome_line(gate), testing::StartsWith("Pass"));
  const auto json = nlohmann::json::parse(render_comparison_json(comparison_of(before, now)));
  EXPECT_EQ(json["now"]["complete"], false);
  EXPECT_EQ(json["now"]["rows_planned"], 99);
  EXPECT_EQ(json["base"]["complete"], true);
}

TEST(Comparison, FitsTheTerminalWhateverTheNames) {
  Report before = example::sample_report();
  before.points[0].workload.label = std::string(10000, 'x');
  before.points[1].workload.label = "\x1b[2J\x1b]0;owned\x07";
  before.machine.device.name = std::string(300, 'z');
  const Report now = scaled(before, 1.05);
  for (const int columns : {72, 80, 120}) {
    for (const bool unicode : {false, true}) {
      std::istringstream lines(
          render_comparison_terminal(comparison_of(before, now), {.unicode = unicode, .columns = columns}));
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(display_width(line), columns) << line;
        EXPECT_EQ(line.find('\x1b'), std::string::npos);
        const bool ascii = std::all_of(line.begin(), line.end(), [](char c) { return c > 0; });
        EXPECT_TRUE(unicode || ascii) << line;
        EXPECT_TRUE(line.find("slower") == std::string::npos || line.find("the time") != std::string::npos ||
                    line.find("1.046") != std::string::npos || line.find("got") != std::string::npos ||
                    line.find("up to") != std::string::npos)
            << "the interval stays beside the ratio: " << line;
      }
    }
  }
}

TEST(Comparison, MarkdownKeepsHostileNamesInTheirCells) {
  Report before = example::sample_report();
  before.points[0].workload.label = "a|b\n|c|<script>";
  const std::string text = render_comparison_markdown(comparison_of(before, scaled(before, 1.05)));
  EXPECT_THAT(text, HasSubstr("a\\|b \\|c\\|&lt;script\\>"));
  EXPECT_THAT(text, HasSubstr("| 1.050 | 1.046–1.054 | **slower \\> 3 %** |"));
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
}

TEST(Comparison, JsonAndCsvHoldTheSameRows) {
  const Report before = example::sample_report();
  Report now = scaled(before, 1.05);
  now.points[0] = example::without_time(now.points[0], PointStatus::failed, "wrong");
  const Comparison comparison = comparison_of(before, now);
  const auto json = nlohmann::json::parse(render_comparison_json(comparison));
  EXPECT_EQ(json["schema"], kComparisonSchema);
  EXPECT_EQ(json["max_slowdown"], 0.03);
  EXPECT_EQ(json["regressions"], 22);
  ASSERT_EQ(json["rows"].size(), before.points.size());
  EXPECT_EQ(json["rows"][0]["now"]["reason"], "wrong");
  EXPECT_FALSE(json["rows"][0].contains("time_ratio"));
  EXPECT_TRUE(json["rows"][0]["regression"]);
  EXPECT_EQ(json["rows"][1]["change"], "slower");
  EXPECT_EQ(json["rows"][1]["before"]["time_s"]["median"], before.points[1].time->median);
  const std::string csv = render_comparison_csv(comparison);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), static_cast<std::ptrdiff_t>(before.points.size() + 1));
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const auto commas = std::count(line.begin(), line.end(), ',');
  while (std::getline(lines, line)) EXPECT_EQ(std::count(line.begin(), line.end(), ','), commas) << line;
}

void expect_keys(const nlohmann::json& object, const nlohmann::json& schema) {
  for (const auto& [key, value] : object.items()) EXPECT_TRUE(schema["properties"].contains(key)) << key;
  for (const std::string key : schema["required"]) EXPECT_TRUE(object.contains(key)) << key;
}

TEST(Comparison, JsonHasTheKeysOfItsSchema) {
  std::ifstream file(std::string(ROOFLINE_SOURCE_DIR) + "/docs/schema/comparison.schema.json");
  const auto schema = nlohmann::json::parse(file);
  const nlohmann::json& definitions = schema["$defs"];
  const Report before = example::sample_report();
  Report now = before;
  now.points.erase(now.points.begin());
  const auto json = nlohmann::json::parse(render_comparison_json(comparison_of(before, now)));
  expect_keys(json, schema);
  expect_keys(json["base"], definitions["run"]);
  expect_keys(json["now"], definitions["run"]);
  for (const auto& row : json["rows"]) {
    expect_keys(row, definitions["row"]);
    for (const char* side : {"before", "now"}) {
      if (row.contains(side)) expect_keys(row[side], definitions["side"]);
    }
    const auto& words = definitions["row"]["properties"]["change"]["enum"];
    EXPECT_NE(std::find(words.begin(), words.end(), row["change"]), words.end()) << row["change"];
  }
}

}  // namespace
}  // namespace roofline
