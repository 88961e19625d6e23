// report.json while rows come in: a report that reads like any other, after every row.
#include "analyze/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/files.hpp"
#include "report/json/json.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

TEST(Journal, IsAReportAfterEveryRow) {
  const fs::path path = fs::path(testing::TempDir()) / ("journal-" + std::to_string(::getpid()) + ".json");
  Report whole = example::counted_sample_report();
  whole.invocation.suite_text = R"(# "duration_s": 0.0, "results": [])";
  whole.points.front().reason = "not UTF-8: \xFF";
  Report so_far = whole;
  so_far.points.clear();
  so_far.complete = false;
  so_far.rows_planned = static_cast<std::int64_t>(whole.points.size());
  Journal journal(path);
  for (const Point& point : whole.points) {
    so_far.points.push_back(point);
    so_far.invocation.duration_s = 1.25 * static_cast<double>(so_far.points.size());
    journal.add_rows(so_far);
    const Report read = parse_report(read_file(path), "journal");
    ASSERT_EQ(read.points.size(), so_far.points.size());
    EXPECT_FALSE(read.complete);
    EXPECT_EQ(read.rows_planned, so_far.rows_planned);
    EXPECT_EQ(render_json(read), render_json(parse_report(render_json(so_far), "report")));
  }
  EXPECT_GT(whole.points.size(), 2U);
  whole.notes.emplace_back("found at the end");
  journal.finish(whole);
  EXPECT_EQ(read_file(path), render_json(whole));
  EXPECT_TRUE(parse_report(read_file(path), "journal").complete);
  fs::remove(path);
}

TEST(Journal, FinishesWithWhatWasCountedSince) {
  const fs::path path = fs::path(testing::TempDir()) / ("counted-" + std::to_string(::getpid()) + ".json");
  Report report = example::sample_report();
  ASSERT_TRUE(std::none_of(report.points.begin(), report.points.end(), [](const Point& p) { return p.counters; }));
  Journal journal(path);
  journal.add_rows(report);
  journal.finish(report);
  EXPECT_EQ(read_file(path), render_json(report));
  Journal counted(path);
  counted.add_rows(report);
  report.points.back().counters = example::counted_sample_report().points.front().counters.value_or(Counters{});
  counted.finish(report);
  EXPECT_EQ(read_file(path), render_json(report));
  EXPECT_EQ(parse_report(read_file(path), "counted").points.back().counters.has_value(), true);
  fs::remove(path);
}

TEST(Journal, FinishesWithWhatWasMeasuredAgain) {
  const fs::path path = fs::path(testing::TempDir()) / ("again-" + std::to_string(::getpid()) + ".json");
  Report report = example::sample_report();
  Journal journal(path);
  journal.add_rows(report);
  for (Point& point : report.points) {
    if (!point.time) continue;
    point.time->median *= 0.5;
    point.attempts = 2;
  }
  journal.finish(report);
  EXPECT_EQ(read_file(path), render_json(report));
  fs::remove(path);
}

TEST(Journal, FinishesWithExperimentsMadeSince) {
  const fs::path path = fs::path(testing::TempDir()) / ("experiments-" + std::to_string(::getpid()) + ".json");
  Report report = example::sample_report();
  Journal journal(path);
  journal.add_rows(report);
  report.points.front().experiments.push_back(
      {.kind = ExperimentKind::in_cache, .variant = "n=128, 1 thread", .ratio = 0.5, .ci95 = {}});
  journal.finish(report);
  EXPECT_EQ(parse_report(read_file(path), "journal").points.front().experiments.size(), 1U);
  fs::remove(path);
}

/// What was never begun (no rows) is a report too.
TEST(Journal, FinishesWithoutRows) {
  const fs::path path = fs::path(testing::TempDir()) / ("no-rows-" + std::to_string(::getpid()) + ".json");
  Report report = example::sample_report();
  report.points.clear();
  Journal(path).finish(report);
  EXPECT_EQ(read_file(path), render_json(report));
  fs::remove(path);
}

TEST(Journal, KeepsNothingWithoutAPlace) {
  Journal("").add_rows(example::sample_report());
  EXPECT_FALSE(fs::exists(".0.tmp"));
}

}  // namespace
}  // namespace roofline
