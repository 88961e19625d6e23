// report.md: its tables hold together whatever the names are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/render.hpp"
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
  const std::string text = render_markdown(sample::sample_report());
  EXPECT_THAT(text, HasSubstr("# Roofline of NVIDIA H200"));
  EXPECT_THAT(text, HasSubstr("22 of 24 kernels verified and timed; 1 skipped and 1 failed"));
  EXPECT_THAT(text, HasSubstr("706 TFLOP/s"));
  EXPECT_THAT(text, HasSubstr("1365.3"));
  EXPECT_THAT(text, HasSubstr("**suspect**: not cache-resident in L1"));
  EXPECT_THAT(text, HasSubstr("has no tf32 kernel"));
  EXPECT_THAT(text, HasSubstr("- tensor.fp8: no probe for this type yet"));
  EXPECT_THAT(text, HasSubstr("roofline analyze configs/ops.yaml"));
  expect_even_tables(text);
}

TEST(Markdown, HostileNamesStayInTheirCells) {
  Report report = sample::sample_report();
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

TEST(Markdown, AboveItsRoofIsMarkedAndNotClamped) {
  Report report = sample::sample_report();
  report.points[0].time = sample::timed(report.points[0].bound.attainable_time_s / 1.3);
  EXPECT_THAT(render_markdown(report), HasSubstr("130.0 % **above**"));
}

TEST(Markdown, AnEmptyReport) { EXPECT_THAT(render_markdown(Report()), HasSubstr("No workload was run.")); }

}  // namespace
}  // namespace roofline
