// The chart in characters: its width, its letters and its lines, in Unicode and in ASCII.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "render/render.hpp"
#include "render/terminal/character_grid.hpp"
#include "tests/support/sample_report.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// An H200 with fp32 and hbm only, and a kernel at each of these intensities and rates.
Report report_with(const std::vector<std::pair<double, double>>& kernels) {
  Report report = example::around(example::h200(), "plot");
  std::erase_if(report.machine.ceilings, [](const Ceiling& c) { return c.name != "fp32" && c.name != "hbm.read"; });
  for (const auto& [intensity, flops_per_s] : kernels) {
    Work work;
    work.flops[Pipe::fp32] = 1e9 * intensity;
    work.bytes[Level::hbm] = {1e9, 0};
    const std::string op = "k" + std::to_string(report.points.size());
    report.points.push_back(example::ok_point(report.machine, example::workload(op, "cuda", DType::fp32, {{"n", 1}}),
                                              "any", work, 1e9 * intensity / flops_per_s));
  }
  return report;
}

TEST(CharacterGrid, DotsAreBraille) {
  CharacterGrid grid(4, 2);
  grid.dot(0, 0, Ink::plain, '-');    // the first dot of the first cell
  grid.dot(12, 12, Ink::plain, '-');  // the last dot of the second
  grid.dot(-1, 0, Ink::plain, '-');
  grid.dot(1e9, 1e9, Ink::plain, '-');
  EXPECT_EQ(grid.row(0, {}), "\u2801\u2880");
  EXPECT_EQ(grid.row(0, {.unicode = false}), "--");
  EXPECT_EQ(grid.row(1, {}), "");
}

TEST(CharacterGrid, LettersHideLinesAndStayInside) {
  CharacterGrid grid(4, 1);
  for (int x = 0; x < 32; ++x) grid.dot(x, 0, Ink::dim, '-');
  EXPECT_TRUE(grid.is_free(0, 0, 4, false));
  EXPECT_FALSE(grid.is_free(0, 0, 4, true));
  EXPECT_FALSE(grid.is_free(1, 0, 4, false));
  grid.write(2, 0, "A\u00d7BC", Ink::bold);
  EXPECT_FALSE(grid.is_free(2, 0, 1, false));
  EXPECT_EQ(grid.row(0, {.unicode = false}), "--A\u00d7");
  EXPECT_EQ(grid.row(0, {.color = true, .unicode = false}), "\x1b[2m--\x1b[0m\x1b[1mA\u00d7\x1b[0m");
}

TEST(TerminalPlot, FitsItsColumns) {
  Report hostile = example::sample_report();
  for (Point& point : hostile.points) point.workload.label = "\x1b[2J" + std::string(5000, 'x');
  hostile.machine.device.name = std::string(300, 'z');
  const std::vector<Report> both = {example::sample_report(), example::sample_report()};
  for (const int columns : {60, 80, 120, 200}) {
    for (const bool unicode : {false, true}) {
      const TerminalStyle style{.color = false, .unicode = unicode, .columns = columns};
      for (const std::string& text :
           {render_terminal_plot(example::sample_report(), style),
            render_terminal_plot(example::cpu_sample_report(), style),
            render_terminal_plot(example::random_report(500), style), render_terminal_plot(hostile, style),
            render_terminal_plot(Report{}, style), render_terminal_plot(both, style)}) {
        for (const std::string& line : lines_of(text)) {
          EXPECT_LE(display_width(line), columns) << line;
          EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
          EXPECT_EQ(line.find('\x1b'), std::string::npos);
          const bool ascii = std::all_of(line.begin(), line.end(), [](char c) { return c > 0; });
          EXPECT_TRUE(unicode || ascii) << line;
        }
      }
    }
  }
}

TEST(TerminalPlot, LettersGoFromLeftToRightAndTheKeyNamesThem) {
  const std::string text =
      render_terminal_plot(report_with({{100, 30e12}, {0.1, 0.4e12}, {1, 2e12}}), {.unicode = false});
  EXPECT_THAT(text, HasSubstr("A k1 fp32"));
  EXPECT_THAT(text, HasSubstr("B k2 fp32"));
  EXPECT_THAT(text, HasSubstr("C k0 fp32"));
  EXPECT_THAT(text, HasSubstr("85.6 %"));  // 0.4 of 0.1 * 4.671 TFLOP/s
  const std::vector<std::string> lines = lines_of(text);
  const auto row_of = [&](char letter) {
    return std::find_if(lines.begin() + 2, lines.begin() + 22,
                        [&](const std::string& line) {
                          return line.find(letter, 7) != std::string::npos && line.find("HBM") == std::string::npos;
                        }) -
           lines.begin();
  };
  EXPECT_LT(row_of('C'), row_of('B'));
  EXPECT_LT(row_of('B'), row_of('A'));
}

TEST(TerminalPlot, PointsOfOneCellShareALetter) {
  const std::string text = render_terminal_plot(report_with({{1, 2e12}, {1.001, 2e12}, {100, 30e12}}), {});
  EXPECT_THAT(text, HasSubstr("A k0 fp32"));
  EXPECT_THAT(text, HasSubstr("A k1 fp32"));
  EXPECT_THAT(text, HasSubstr("B k2 fp32"));
}

TEST(TerminalPlot, RoofsAreLinesWithTheirNames) {
  const std::string text = render_terminal_plot(report_with({{1, 2e12}}), {.unicode = false});
  EXPECT_THAT(text, HasSubstr("HBM read 4.67 TB/s"));
  EXPECT_THAT(text, HasSubstr("FP32 65 TFLOP/s"));
  EXPECT_THAT(text, HasSubstr("----------"));
  EXPECT_THAT(text, HasSubstr("//"));
  EXPECT_THAT(text, HasSubstr("FLOP/byte"));
}

TEST(TerminalPlot, ManyPointsLeaveTheKeyShort) {
  const std::string text = render_terminal_plot(example::random_report(500), {.columns = 80});
  const std::vector<std::string> lines = lines_of(text);
  EXPECT_LT(lines.size(), 24U + 4 * 52 / 2);
  EXPECT_THAT(text, HasSubstr(" more, in the table"));
  // Every letter of the chart is in the key.
  const std::string key = text.substr(text.find("FLOP/byte"));
  for (const char letter : {'A', 'M', 'Z', 'a', 'z'}) {
    EXPECT_THAT(key, HasSubstr(std::string(1, letter) + " kernel_")) << letter;
  }
  EXPECT_THAT(text, HasSubstr("\u2022"));
}

TEST(TerminalPlot, WhatHasNoPointIsCounted) {
  EXPECT_THAT(render_terminal_plot(example::sample_report(), {}), HasSubstr("2 without"));
  EXPECT_THAT(render_terminal_plot(report_with({{1, 2e12}}), {}), Not(HasSubstr("without")));
  EXPECT_THAT(render_terminal_plot(Report{}, {}), HasSubstr("no roof"));
}

TEST(TerminalPlot, ColourSaysTheBound) {
  const std::string text = render_terminal_plot(report_with({{1, 2e12}, {100, 30e12}}), {.color = true});
  EXPECT_THAT(text, HasSubstr("\x1b[36mA\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[35mB\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("bound: \x1b[36mmemory\x1b[0m, \x1b[35mcompute\x1b[0m"));
}

TEST(TerminalPlot, AnEarlierRunIsHollow) {
  const std::vector<Report> runs = {report_with({{1, 0.5e12}}), report_with({{1, 2e12}})};
  const std::string text = render_terminal_plot(runs, {});
  EXPECT_THAT(text, HasSubstr("\u25cb an earlier run"));
  const std::size_t first = text.find("\u25cb");
  EXPECT_NE(first, text.find("\u25cb an earlier"));  // one in the chart too
}

TEST(TerminalPlot, TheAxisOfIntegersHasTheirUnit) {
  Report report = example::sample_report();
  const TerminalStyle style{.columns = 100};
  EXPECT_THAT(render_terminal_plot(report, style), HasSubstr("\nFLOP/s\n"));
  for (Point& point : report.points) point.work.flops = {{Pipe::int8, 1e9}};
  EXPECT_THAT(render_terminal_plot(report, style), HasSubstr("\nOP/s\n"));
}

}  // namespace
}  // namespace roofline
