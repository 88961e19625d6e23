// What a terminal shows: within its width, without trailing spaces, escape sequences only where asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "render/render.hpp"
#include "render/terminal/table.hpp"
#include "report/findings.hpp"
#include "report/hotspots.hpp"
#include "tests/support/cpu_program.hpp"
#include "tests/support/profile_report.hpp"
#include "tests/support/sample_report.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_tidy(const std::string& text, int columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), columns) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
  }
}

Report hostile_report() {
  Report report = example::sample_report();
  report.points[0].workload.label = "\u884C\u5217\u884C\u5217\u884C\u5217\u884C\u5217\u884C\u5217\u884C\u5217";
  report.points[0].workload.implementation = "\u884C\u5217\u884C\u5217\u884C\u5217\u884C\u5217\u884C\u5217\u884C\u5217";
  report.points[1].workload.label = std::string(10000, 'x');
  report.points[2].workload.label = "\x1b[2J\x1b]0;owned\x07";
  report.points[22].reason = std::string(500, 'y') + " and\nmore";
  report.machine.device.name = "\x1b[31m" + std::string(300, 'z');
  return report;
}

TEST(Terminal, FitsItsColumns) {
  for (const Report& report : {example::sample_report(), example::cpu_sample_report(), hostile_report(), Report{}}) {
    for (const int columns : {72, 80, 100, 160}) {
      for (const bool unicode : {false, true}) {
        const TerminalStyle style{.color = false, .unicode = unicode, .columns = columns};
        expect_tidy(render_terminal(report, style), columns);
        expect_tidy(render_machine_terminal(report.machine, style), columns);
      }
    }
  }
}

/// Labels as suites make them: op, dtype and shape, and what distinguishes rows of one shape.
TEST(Terminal, RowsOfOneShapeStandUnderTheirCommonLabel) {
  Report report = example::sample_report();
  report.points.assign(4, report.points[0]);
  const auto row = [&](std::size_t i, DType dtype, const std::string& label, const std::string& implementation) {
    Workload& workload = report.points[i].workload;
    workload = {
        .op = "scaled", .implementation = implementation, .dtype = dtype, .shape = {{"n", 1 << 22}}, .label = label};
  };
  row(0, DType::fp32, "scaled fp32 2^22 TILE=16 block=128", "TILE=16 block=128");
  row(1, DType::fp16, "scaled fp16 2^22 TILE=16 block=256", "TILE=16 block=256");
  row(2, DType::fp32, "scaled fp32 2^22 TILE=8 block=64 hot", "TILE=8 block=64");
  report.points[2].workload.cache = CacheMode::hot;
  row(3, DType::fp32, "my own", "TILE=8 block=64");
  std::istringstream lines(render_terminal(report, {.columns = 200}));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("scaled") || line.starts_with("my own")) names.push_back(line);
    if (line.starts_with(" fp")) names.push_back(line.substr(0, line.find("  ")));
  }
  names.resize(6);
  EXPECT_THAT(names, ::testing::ElementsAre("scaled 2^22", " fp32 TILE=16 block=128", " fp16 TILE=16 block=256",
                                            " fp32 TILE=8 block=64 hot", "my own", " fp32 TILE=8 block=64"));
}

TEST(Terminal, HasTheConfigurationsThatWereNotChosen) {
  Report report = example::sample_report();
  EXPECT_THAT(render_terminal(report, {.columns = 200}), Not(HasSubstr("TILE=4")));
  report.points[0].tried = {{"TILE=8", 1e-3}, {"TILE=4", 1.25e-3}};
  EXPECT_THAT(render_terminal(report, {.columns = 200}), HasSubstr("TILE=8 1 ms, TILE=4 1.25 ms (+25.0 %)"));
}

TEST(Terminal, ACompilersOutputStaysAsItIs) {
  const std::string output = "dot.c:3:5: error: no 'x' " + std::string(200, 'y') + "\n    3 |   x  = 1;\n      |   ^\n";
  Report report = example::sample_report();
  report.points[22].reason = "dot.c does not compile:\n" + output;
  EXPECT_THAT(render_terminal(report, {.columns = 80}), HasSubstr("dot.c does not compile:\n" + output));
  report.points[22].reason = "dot.c does not compile:\n\x1b[2J" + std::string(1000, '\n');
  const std::string text = render_terminal(report, {.columns = 80});
  EXPECT_THAT(text, Not(HasSubstr("\x1b[2J")));
  EXPECT_THAT(text, HasSubstr("more lines"));
}

/// Rows at a roof that failed its audit have one cause and one remedy, which is said once; a single one has its name.
TEST(Terminal, TellsRowsToTimeAgainTogether) {
  Report report = example::sample_report();
  Point point = report.points[0];
  point.bound.suspect = true;
  const auto told = [&](std::size_t rows) {
    report.points.assign(rows, point);
    return render_terminal(report, {.columns = 200});
  };
  const auto times = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  report.points = {point};
  const std::string remedy = verdicts(report)[0].action;
  const std::string several = told(3);
  EXPECT_EQ(times(several, remedy), 1U) << several;
  EXPECT_THAT(several, HasSubstr("3 kernels  " + std::string(kind_words(VerdictKind::measure))));
  const std::string one = told(1);
  EXPECT_EQ(times(one, remedy), 1U) << one;
  EXPECT_THAT(one, HasSubstr(point_name(point) + "  " + std::string(kind_words(VerdictKind::measure))));
}

TEST(Terminal, ShowsWhatMatters) {
  const std::string text = render_terminal(example::sample_report(), {});
  for (const char* part : {"NVIDIA H200", "gemm 4096x4096x4096", "bf16 cublas", "706 TFLOP/s", "1365.3", "tensor.bf16",
                           "88.5 %", "compute", "tf32 kernel", "element 17 is 0.25", "calibrated 3 days ago"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

/// A newcomer's first question: what can this machine do? Kernels and advice come after it.
TEST(Terminal, BeginsWithTheMachine) {
  for (const Report& report : {example::sample_report(), example::cpu_sample_report()}) {
    for (const int columns : {80, 160}) {
      const std::string text = render_terminal(report, {.columns = columns});
      const std::string first = text.substr(0, text.find("\n\n"));
      EXPECT_LE(std::count(first.begin(), first.end(), '\n'), 2) << first;
      EXPECT_THAT(first, HasSubstr(report.machine.device.name.substr(0, 20)));
      const std::vector<std::string> facts = headline(report);
      ASSERT_EQ(facts.size(), 3U) << "main memory, arithmetic, and where they meet";
      std::string words = first;
      std::replace(words.begin(), words.end(), '\n', ' ');
      for (const std::string& fact : facts) EXPECT_THAT(words, HasSubstr(fact)) << "whole at any width";
      for (const Point& point : report.points) EXPECT_THAT(first, Not(HasSubstr(point.workload.op + " ")));
    }
  }
}

TEST(Terminal, ShowsTheMachine) {
  const std::string text = render_machine_terminal(example::h200(), {.columns = 90});
  for (const char* part : {"hbm.read", "4.67 TB/s", "97.0 %", "suspect", "--verbose", "1.98 GHz", "burst", "\u00b10.2%",
                           "2.1 \u00b5s", "tensor.fp8: "}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("6.1 %")));
  EXPECT_THAT(render_machine_terminal(example::h200(), {.columns = 120}, /*verbose=*/true), HasSubstr("6.1 %"));
}

TEST(Terminal, ShowsBothRegimesReferencesAndSweeps) {
  const std::string text = render_machine_terminal(example::h200(), {.color = false, .unicode = true, .columns = 120});
  for (const std::string& part : std::initializer_list<std::string>{
           "roof (sustained)", "650 TFLOP/s", "81.5 %", "1.32 GHz", "692 W", "1.06 pJ/FLOP", "power cap", "reference",
           "tensor.bf16.mma_sync", "two thirds", "640 ns", "idle power: 76 W",
           sweep_sentence(example::h200().sweeps[0])}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const std::string markdown = render_machine_markdown(example::h200());
  for (const char* part :
       {"# NVIDIA H200", "| sustained |", "692 W, 1.06 pJ/FLOP, power cap", "Reference ceilings (not roofs)"}) {
    EXPECT_THAT(markdown, HasSubstr(part));
  }
}

TEST(Terminal, ShowsWhatChanged) {
  const Machine before = example::h200();
  Machine now = before;
  now.ceilings[0].value *= 0.96;
  now.ceilings[0].ci95 = {now.ceilings[0].value * 0.999, now.ceilings[0].value * 1.001};
  const std::string text = render_changes_terminal(compare_machines(before, now), "then", "now", {});
  EXPECT_THAT(text, HasSubstr("0.960"));
  EXPECT_THAT(text, HasSubstr("slower"));
  expect_tidy(text, 80);
}

TEST(Terminal, HasAVerdictOnEachKernelBelowItsRoof) {
  const Report report = example::sample_report();
  const std::string text = render_terminal(report, {.columns = 160});
  for (const Verdict& verdict : verdicts(report)) {
    if (verdict.kind == VerdictKind::at_roof) continue;
    EXPECT_THAT(text, HasSubstr(point_name(report.points[verdict.row]) + "  " + std::string(kind_words(verdict.kind))));
  }
  EXPECT_THAT(text, HasSubstr(" potential saving\n"));
  EXPECT_THAT(text, HasSubstr("8 kernels"));
}

TEST(Terminal, ARowThatIsBadlyMeasuredIsMarked) {
  Report report = example::sample_report();
  EXPECT_THAT(render_terminal(report, {}), Not(HasSubstr("?88.5 %")));
  example::scatter(*report.points[21].time);
  EXPECT_THAT(render_terminal(report, {}), HasSubstr("?88.5 %"));
}

TEST(Terminal, ColourOnlyWhereAskedFor) {
  const Report report = example::sample_report();
  EXPECT_THAT(render_terminal(report, {.color = true}), HasSubstr("\x1b[32m"));
  EXPECT_THAT(render_terminal(report, {.color = false}), Not(HasSubstr("\x1b")));
}

TEST(Terminal, AsciiWithoutUnicode) {
  for (const std::string& text : {render_terminal(hostile_report(), {.unicode = false}),
                                  render_machine_terminal(example::h200(), {.unicode = false})}) {
    for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << text;
  }
}

TEST(Terminal, AboveItsRoofIsMarked) {
  Report report = example::sample_report();
  report.points[0].time = example::timed(report.points[0].bound.attainable_time_s / 1.3);
  EXPECT_THAT(render_terminal(report, {}), HasSubstr("\u25b2130.0 %"));
}

TEST(Terminal, ARowWithoutACeilingHasNoBar) {
  Report report = example::sample_report();
  report.points[4].bound = bound_of(report.points[4].work, Machine{});
  ASSERT_TRUE(std::isnan(report.points[4].fraction_of_roof()));
  const std::string text = render_terminal(report, {.columns = 120});
  EXPECT_THAT(text, HasSubstr("unknown"));
  expect_tidy(text, 120);
}

TEST(TerminalTable, LeavesOutByRankThenShrinks) {
  TerminalTable table(
      {{"name", false, 0, true}, {"kept", true, 0, false}, {"first", true, 2, false}, {"then", true, 1, false}});
  table.add_row({{"a-rather-long-name"}, {"1"}, {"2"}, {"3"}});
  EXPECT_THAT(table.render({.columns = 80}), HasSubstr("first"));
  EXPECT_EQ(table.render({.columns = 31}), "name                kept  then\na-rather-long-name     1     3\n");
  EXPECT_EQ(table.render({.columns = 24}), "name                kept\na-rather-long-name     1\n");
  EXPECT_EQ(table.render({.columns = 16}), "name        kept\na-rat\u2026name     1\n");
}

TEST(TerminalTable, RowsThatDifferCanBeToldApartInANarrowTable) {
  TerminalTable table({{.title = "Kernel", .shrinks = true}, {.title = "Time", .right = true}});
  for (const char* type : {"fp32", "fp16", "fp64"}) {
    table.add_row({{std::string("reduction ") + type + " 2^28 (vectorized)"}, {"1.25 ms"}});
  }
  const std::string text = table.render({.unicode = true, .columns = 22});
  for (const char* type : {"fp32", "fp16", "fp64"}) EXPECT_THAT(text, HasSubstr(type));
}

TEST(TerminalTable, AColumnMayShrinkBeforeOthersAreLeftOut) {
  TerminalTable table({{"name", false, 0, true, 7}, {"extra", true, 1, false}});
  table.add_row({{"a-rather-long-name"}, {"1"}});
  EXPECT_EQ(table.render({.columns = 16}), "name       extra\na-ra\u2026name      1\n");
  EXPECT_EQ(table.render({.columns = 13}), "name\na-rath\u2026g-name\n");
}

TEST(TerminalTable, Wraps) {
  EXPECT_EQ(wrapped("- ", "aaaa bbbb cccc dddd eeee", {.columns = 22}), "- aaaa bbbb cccc dddd\n  eeee\n");
  const std::string setting = "(GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1:glibc.malloc.trim_threshold=1)";
  EXPECT_EQ(wrapped("", "set " + setting + " first", {.columns = 30}), "set\n" + setting + "\nfirst\n")
      << "it is copied";
  EXPECT_EQ(wrapped("", std::string(50, 'x'), {.columns = 30}).find(std::string(50, 'x')), std::string::npos);
}

TEST(Terminal, HasAKeyForEachSignThatItShows) {
  Report report = example::sample_report();
  const TerminalStyle style{.columns = 80};
  const std::string plain = render_terminal(report, style);
  EXPECT_THAT(plain, HasSubstr("AI: FLOP per byte"));
  EXPECT_THAT(plain, HasSubstr("95 % interval of the time"));
  EXPECT_THAT(plain, Not(HasSubstr("?: not measured well enough")));
  report.points[2].time->stop = StopReason::time_limit;
  report.points[2].time->drifting = true;
  report.points[0].time = example::timed(report.points[0].bound.attainable_time_s / 1.5);
  const std::string text = render_terminal(report, style);
  EXPECT_THAT(text, HasSubstr("?: not measured well enough"));
  EXPECT_THAT(text, HasSubstr("above its roof: the roof or"));
  EXPECT_THAT(render_terminal(example::counted_sample_report(), style), HasSubstr("Hardware counts over"));
}

TEST(Terminal, HasAKeyForColumnsAndRoofsThatItShows) {
  Report report = example::sample_report();
  const auto shown = [&](int columns) { return render_terminal(report, {.unicode = true, .columns = columns}); };
  int with = 0, without = 0;
  for (int columns = 50; columns <= 160; columns += 5) {
    const bool column = shown(columns).find(" AI ") != std::string::npos;
    EXPECT_EQ(shown(columns).find("AI: ") != std::string::npos, column) << columns;
    ++(column ? with : without);
  }
  EXPECT_GT(with, 0);
  EXPECT_GT(without, 0);
  for (const bool suspect : {false, true}) {
    for (Point& point : report.points) point.bound.suspect = suspect;
    EXPECT_EQ(shown(160).find("? after a roof") != std::string::npos, suspect);
  }
}

/// Programs on a CPU have no median of launches.
TEST(Terminal, HasAKeyForTheMedianWhereATableHasIt) {
  for (const Report& report : {example::profile_report(), example::planted_cpu_report()}) {
    for (const int columns : {40, 80, 200}) {
      const std::string text = render_terminal(report, {.columns = columns});
      const std::size_t key = text.find("median: ");
      EXPECT_EQ(key != std::string::npos, text.find(" median ") != std::string::npos) << columns << text;
    }
  }
}

TEST(Terminal, SaysEachVerdictInOnePlace) {
  const Report report = example::counted_sample_report();
  const std::string text = render_terminal(report, {.columns = 1000});
  std::map<std::string, int> kernels_with;
  for (const Verdict& verdict : verdicts(report))
    if (verdict.kind == VerdictKind::slow) ++kernels_with[verdict.finding];
  ASSERT_FALSE(kernels_with.empty());
  for (const auto& [finding, kernels] : kernels_with) {
    int found = 0;
    for (std::size_t at = text.find(finding); at != std::string::npos; at = text.find(finding, at + 1)) ++found;
    EXPECT_EQ(found, kernels) << finding;
  }
}

}  // namespace
}  // namespace roofline
