// results.csv against RFC 4180: read back by a parser written from its grammar.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "render/render.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using Table = std::vector<std::vector<std::string>>;

Table parse(const std::string& text) {
  Table rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else if (c == '"') {
        quoted = false;
      } else {
        field += c;
      }
    } else if (c == '"' && field.empty()) {
      quoted = true;
    } else if (c == ',') {
      row.push_back(std::move(field));
      field.clear();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      row.push_back(std::move(field));
      field.clear();
      rows.push_back(std::move(row));
      row.clear();
      ++i;
    } else {
      field += c;
    }
  }
  EXPECT_TRUE(field.empty() && row.empty()) << "the last line does not end in CRLF";
  return rows;
}

std::string at(const Table& table, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < table[0].size(); ++i) {
    if (table[0][i] == column) return table[row][i];
  }
  ADD_FAILURE() << "no column " << column;
  return {};
}

TEST(Csv, OneRowAPointAndEveryRowAsWideAsTheHeader) {
  const Report report = example::sample_report();
  const Table table = parse(render_csv(report));
  ASSERT_EQ(table.size(), report.points.size() + 1);
  for (const auto& row : table) EXPECT_EQ(row.size(), table[0].size());
}

TEST(Csv, NumbersReadBackExactly) {
  const Report report = example::sample_report();
  const Table table = parse(render_csv(report));
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Point& point = report.points[i];
    if (!point.time) continue;
    EXPECT_EQ(std::strtod(at(table, i + 1, "time_s").c_str(), nullptr), point.time->median);
    EXPECT_EQ(std::strtod(at(table, i + 1, "performance_flops_per_s").c_str(), nullptr), point.performance());
    EXPECT_EQ(std::strtod(at(table, i + 1, "fraction_of_roof").c_str(), nullptr), point.fraction_of_roof());
    EXPECT_EQ(std::strtod(at(table, i + 1, "arithmetic_intensity").c_str(), nullptr), point.bound.arithmetic_intensity);
  }
  EXPECT_EQ(at(table, 22, "limiting_ceiling"), "tensor.bf16");
  EXPECT_EQ(at(table, 22, "shape"), "m=4096 n=4096 k=4096");
}

TEST(Csv, RowsWithoutATimeSayWhyAndHaveNoNumbers) {
  const Table table = parse(render_csv(example::sample_report()));
  EXPECT_EQ(at(table, 23, "status"), "skipped");
  EXPECT_EQ(at(table, 23, "reason"), "implementation 'cuda' has no tf32 kernel");
  EXPECT_EQ(at(table, 23, "time_s"), "");
  EXPECT_EQ(at(table, 23, "fraction_of_roof"), "");
  EXPECT_EQ(at(table, 23, "above_roof"), "");
  EXPECT_EQ(at(table, 24, "status"), "failed");
  EXPECT_EQ(at(table, 24, "verification"), "fail");
}

TEST(Csv, TextWithSeparatorsSurvives) {
  Report report = example::sample_report();
  report.points[0].workload.label = "a,b \"c\"\r\nd";
  report.points[1].workload.label = "";
  report.points[2].workload.label = "\xFF";
  const Table table = parse(render_csv(report));
  EXPECT_EQ(at(table, 1, "workload"), "a,b \"c\"\uFFFD\nd");  // a lone carriage return is a control character
  EXPECT_EQ(at(table, 2, "workload"), "");
  EXPECT_EQ(at(table, 3, "workload"), "\uFFFD");
}

TEST(Csv, ATextIsNoFormula) {
  Report report = example::sample_report();
  const std::vector<std::string> formulas = {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1"};
  for (std::size_t i = 0; i < formulas.size(); ++i) report.points[i].workload.label = formulas[i];
  report.points[5].time->median = -1.5e-9;
  const Table table = parse(render_csv(report));
  for (std::size_t i = 0; i < formulas.size(); ++i) EXPECT_EQ(at(table, i + 1, "workload"), "'" + formulas[i]);
  EXPECT_EQ(at(table, 6, "time_s"), "-1.5e-09") << "a number stays one";
  EXPECT_EQ(at(table, 6, "workload"), report.points[5].workload.label);
}

TEST(Csv, AnEmptyReportIsItsHeader) { EXPECT_EQ(parse(render_csv({})).size(), 1u); }

}  // namespace
}  // namespace roofline
