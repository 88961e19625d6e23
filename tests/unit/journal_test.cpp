// report.json while rows come in: a report that reads like any other, after every row.
#include "analyze/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "host/files.hpp"
#include "report/json/json.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

TEST(Journal, IsAReportAfterEveryRow) {
  const fs::path path = fs::path(testing::TempDir()) / ("journal-" + std::to_string(::getpid()) + ".json");
  Report whole = sample::counted_sample_report();
  whole.invocation.suite_text = R"(# "duration_s": 0.0, "results": [])";
  whole.points.front().reason = "not UTF-8: \xFF";
  Report so_far = whole;
  so_far.points.clear();
  Journal journal(path);
  for (const Point& point : whole.points) {
    so_far.points.push_back(point);
    so_far.invocation.duration_s = 1.25 * static_cast<double>(so_far.points.size());
    journal.add_rows(so_far);
    const Report read = parse_report(read_file(path), "journal");
    ASSERT_EQ(read.points.size(), so_far.points.size());
    EXPECT_EQ(render_json(read), render_json(parse_report(render_json(so_far), "report")));
  }
  EXPECT_GT(whole.points.size(), 2U);
  fs::remove(path);
}

TEST(Journal, KeepsNothingWithoutAPlace) {
  Journal("").add_rows(sample::sample_report());
  EXPECT_FALSE(fs::exists(".0.tmp"));
}

}  // namespace
}  // namespace roofline
