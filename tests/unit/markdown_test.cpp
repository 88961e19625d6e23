// report.md: its tables hold together whatever the names are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/findings.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Cells of a table's line: bars that no backslash escapes, less one.
int cells(const std::string& line) {
  int bars = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '|') {
      ++bars;
    }
  }
  return bars - 1;
}

/// The widths of all tables, each line's: one group for a run of lines that begin with a bar.
void expect_even_tables(const std::string& text) {
  std::istringstream lines(text);
  int width = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      width = 0;
      continue;
    }
    if (width == 0) width = cells(line);
    EXPECT_EQ(cells(line), width) << line;
  }
}

TEST(Markdown, SaysWhatARunFound) {
  const std::string text = render_markdown(example::sample_report());
  EXPECT_THAT(text, HasSubstr("# Roofline of NVIDIA H200"));
  EXPECT_THAT(text, HasSubstr("- " + run_facts(example::sample_report())[0].text));
  EXPECT_THAT(text, HasSubstr("706 TFLOP/s"));
  EXPECT_THAT(text, HasSubstr("1365.3"));
  EXPECT_THAT(text, HasSubstr("not cache-resident in L1"));
  EXPECT_THAT(text, HasSubstr("tf32 kernel"));
  EXPECT_THAT(text, HasSubstr("- tensor.fp8: "));
  EXPECT_THAT(text, HasSubstr("roofline analyze configs/ops.yaml"));
  expect_even_tables(text);
}

TEST(Markdown, HostileNamesStayInTheirCells) {
  Report report = example::sample_report();
  report.points[0].workload.label = "a|b\n|c|\n# heading <script>alert(1)</script>";
  report.points[1].workload.label = "back\\|slash `code` *bold*";
  report.machine.ceilings[0].name = "x|y\r\nz";
  report.machine.unmeasured.push_back({"<img>", "[link](javascript:x)"});
  report.invocation.suite_text = "```\n# out of the fence\n````\n";
  const std::string text = render_markdown(report);
  expect_even_tables(text);
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
  EXPECT_THAT(text, Not(HasSubstr("<img>")));
  EXPECT_THAT(text, Not(HasSubstr("\n# heading")));
  EXPECT_THAT(text, HasSubstr("\\[link\\](javascript:x)"));
  EXPECT_THAT(text, HasSubstr("\n`````yaml\n"));
}

TEST(Markdown, HasTheConfigurationsThatWereNotChosen) {
  Report report = example::sample_report();
  EXPECT_THAT(render_markdown(report), Not(HasSubstr("TILE=4")));
  report.points[0].tried = {{"TILE=8", 1e-3}, {"TILE=4", 1.25e-3}};
  EXPECT_THAT(render_markdown(report), HasSubstr("TILE=8 1 ms, TILE=4 1.25 ms (+25.0 %)"));
}

TEST(Markdown, ACompilersOutputIsABlockOfCode) {
  Report report = example::sample_report();
  report.points[22].reason = "dot.c does not compile:\ndot.c:3:5: error: *x\n    3 |   x\n```\n<b>";
  EXPECT_THAT(render_markdown(report), HasSubstr("dot.c does not compile:\n\n      dot.c:3:5: error: *x\n"
                                                 "          3 |   x\n      ```\n      <b>\n\n"));
}

TEST(Markdown, AboveItsRoofIsMarkedAndNotClamped) {
  Report report = example::sample_report();
  report.points[0].time = example::timed(report.points[0].bound.attainable_time_s / 1.3);
  EXPECT_THAT(render_markdown(report), ::testing::ContainsRegex("130\\.0 % \\([^)]*\\) \\*\\*above"));
}

TEST(Markdown, SeveralRunsAreComparedFirst) {
  std::vector<Report> runs = {example::sample_report(), example::sample_report()};
  runs[1].points[9].time = example::timed(runs[0].points[9].time->median * 1.05);
  runs[1].machine.device.driver = "590.1";
  const std::string text = render_markdown(runs);
  EXPECT_THAT(text, HasSubstr("## Comparison"));
  const Comparison comparison = comparison_of(Runs(runs));
  for (const std::string& sentence : comparison_details(comparison)) EXPECT_THAT(text, HasSubstr("- " + sentence));
  for (const std::string& note : comparison_notes(runs[0], runs[1])) EXPECT_THAT(text, HasSubstr("- Note: " + note));
  EXPECT_THAT(text, HasSubstr("580.159.04 before, 590.1 now"));
  EXPECT_THAT(text, HasSubstr("| 1.050 | 1.046–1.054 | **slower \\> 3 %** |"));
  EXPECT_THAT(text, HasSubstr("## Comparison\n\n**1 of 22"));
  EXPECT_LT(text.find("**slower"), text.find("| no difference"));
  EXPECT_LT(text.find("## Comparison"), text.find("## Kernels"));
  EXPECT_THAT(render_markdown(runs[0]), Not(HasSubstr("## Comparison")));
  expect_even_tables(text);
}

TEST(Markdown, TheMachineIsOneRowARoof) {
  const std::string text = render_markdown(example::sample_report());
  EXPECT_THAT(text,
              HasSubstr("| tensor.bf16 | 798 TFLOP/s | ±0.2 % | 74.6 % | 650 TFLOP/s, 1.32 GHz, 692 W | confirmed |"));
  EXPECT_THAT(text, HasSubstr("| fp32 | 65 TFLOP/s | ±0.2 % | 97.2 % | – | confirmed |"));
  EXPECT_THAT(text, Not(HasSubstr("mma\\_sync")));
  Report suspect = example::sample_report();
  for (Ceiling& ceiling : suspect.machine.ceilings) {
    if (ceiling.regime == Regime::sustained) ceiling.audit.checks.push_back({"steady", CheckStatus::fail, "drifting"});
  }
  EXPECT_THAT(render_markdown(suspect), HasSubstr("692 W (**suspect**) | confirmed |"));
  Report only_sustained = example::sample_report();
  std::erase_if(only_sustained.machine.ceilings,
                [](const Ceiling& c) { return c.name == "tensor.bf16" && c.regime == Regime::burst; });
  EXPECT_THAT(render_markdown(only_sustained), HasSubstr("| tensor.bf16 (sustained) | 650 TFLOP/s |"));
}

TEST(Markdown, SaysWhereToSpendTimeAndTheVerdictOnEachKernel) {
  const std::string text = render_markdown(example::sample_report());
  EXPECT_THAT(text, HasSubstr(answer(example::sample_report())));
  EXPECT_THAT(text, HasSubstr("## Where to spend time\n\n1. **"));
  EXPECT_THAT(text, HasSubstr("## Verdicts\n\n- **"));
  EXPECT_THAT(text, HasSubstr("At their roof: "));
  EXPECT_LT(text.find("## Where to spend time"), text.find("## Kernels"));
  EXPECT_LT(text.find("## Kernels"), text.find("## Verdicts"));
}

TEST(Markdown, AnEmptyReport) { EXPECT_THAT(render_markdown(Report()), HasSubstr(run_facts(Report())[0].text)); }

}  // namespace
}  // namespace roofline
