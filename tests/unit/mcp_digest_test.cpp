// Summaries for agents: short, and the figures are those of the document.
#include "mcp/digest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mcp/facts.hpp"
#include "mcp/tools.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"
#include "report/json/json_value.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/profile_report.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;
using testing::Not;

Json suite_document() { return report_to_json(example::sample_report()); }

std::string digest(const Json& data, const ReportView& view = {}) {
  return digest_of_answer({{"data", data}}, view, "").text;
}

TEST(McpDigest, ASuiteByItsRows) {
  const Json suite = suite_document();
  const std::string text = digest(suite, {.report = "run/report.json"});
  EXPECT_THAT(text, mentions(suite["invocation"]["suite"].get<std::string>(), "1 failed", "run/report.json"));
  for (const Json& row : suite["results"]) {
    if (row["status"] == "failed") {
      EXPECT_THAT(text, HasSubstr(row["reason"].get<std::string>()));
    }
  }
  const std::string rows = digest(suite, {.section = "rows", .offset = 1});
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '#'), static_cast<std::ptrdiff_t>(suite["results"].size() - 1));
}

TEST(McpDigest, OneRow) {
  Json suite = suite_document();
  for (std::size_t i = 0; i < suite["results"].size(); ++i) suite["results"][i]["id"] = "id-" + std::to_string(i);
  const std::string label = suite["results"][0]["label"];
  EXPECT_THAT(digest(suite, {.row = "#1"}), mentions("#1 " + label, "id-0", "of its roof"));
  EXPECT_THAT(digest(suite, {.row = "1"}), HasSubstr(label));
  EXPECT_THAT(digest(suite, {.row = "id-0"}), HasSubstr(label));
  EXPECT_THROW(digest(suite, {.row = "#0"}), UsageError);
  EXPECT_THROW(digest(suite, {.row = "#99999"}), UsageError);
  EXPECT_THROW(digest(suite, {.row = "no such row"}), UsageError);
  EXPECT_THROW(digest(suite, {.row = "id-"}), UsageError);  // several
}

TEST(McpDigest, AProfileByItsSavings) {
  const Json profile = report_to_json(example::profile_report());
  const std::string text = digest(profile);
  const Json& first = profile["profile"]["wins"][0];
  EXPECT_THAT(text, mentions("1. ", duration_fact(first, "seconds"), text_fact(first, "action")));
  EXPECT_THAT(digest(profile, {.section = "savings", .offset = 1}), Not(HasSubstr("\n1. ")));
}

TEST(McpDigest, CausesOfTimeOnTheHost) {
  Json profile = report_to_json(example::profile_report());
  EXPECT_THAT(digest(profile), Not(HasSubstr("NumPy")));
  profile["profile"]["host"] = {{"lines", Json::array({{{"function", "f"}, {"seconds", {{"running", 1.0}}}}})}};
  profile["profile"]["host_causes"] = Json::parse(
      R"([{"cause": "interpreted", "seconds": 1.25, "what": "a loop at a.py:4", "action": "use NumPy", "line": "a.py:4"}])");
  for (const char* section : {"", "host"}) {
    EXPECT_THAT(digest(profile, {.section = section}), mentions("1. 1.25 s interpreted", "a.py:4", "use NumPy"));
  }
  EXPECT_THAT(digest(profile, {.section = "host"}), HasSubstr("no file f"));
}

TEST(McpDigest, LinesOfSampledKernels) {
  Json profile = report_to_json(example::profile_report());
  EXPECT_THAT(digest(profile, {.section = "lines"}), HasSubstr("section=host"));
  Json& row = profile["results"][0];
  row["profiled"]["full_name"] = "copy<float>";
  EXPECT_THAT(digest(profile, {.row = "#1"}), Not(HasSubstr("samples):")));
  row["profiled"]["sampled"] = Json::parse(
      R"({"samples": 200, "waits": [{"what": "global_load", "share": 0.5, "line": "a.cu:7", "used_line": "a.cu:9"}]})");
  profile["profile"]["instructions"] = Json::parse(R"({"samples": 400, "kernels": [{"name": "copy<float>",
    "samples": 200, "lines": [{"file": "/src/a.cu", "line": 7, "text": "y = x[i];", "samples": 150,
    "waits": [{"what": "global_load", "samples": 100}]}]}]})");
  EXPECT_THAT(digest(profile, {.row = "#1"}), mentions("global_load 50.0 % at a.cu:7 used at a.cu:9", "a.cu:7 75.0 %"));
  EXPECT_THAT(digest(profile, {.section = "lines"}),
              mentions("50.0 % of the samples: copy<float>", "a.cu:7 75.0 %", "global_load 66.7 %", "y = x[i];"));
}

TEST(McpDigest, RoofsAndWhatIsDoubtful) {
  Json machine = suite_document()["machine"];
  machine["ceilings"][0]["audit"] = {{"status", "fail"}};
  const std::string text = digest(machine);
  EXPECT_THAT(text, mentions(machine["device"]["name"].get<std::string>(), "[suspect]"));
}

/// An answer is never empty: it says what there is.
TEST(McpDigest, SectionsWithoutEntriesSayWhatThereIs) {
  Json profile = report_to_json(example::profile_report());
  profile["profile"]["host"] = {{"lines", Json::array({{{"function", "f"}, {"seconds", {{"running", 1.0}}}}})}};
  const auto savings = profile["profile"]["wins"].size(), rows = profile["results"].size();
  for (const char* section : {"rows", "savings", "host", "roofs"}) {
    EXPECT_THAT(digest(profile, {.section = section, .offset = 100'000}), HasSubstr("offset=100000")) << section;
  }
  EXPECT_THAT(digest(profile, {.section = "rows", .offset = rows}), HasSubstr(std::to_string(rows) + " rows"));
  profile["results"] = Json::array();
  EXPECT_THAT(digest(profile, {.section = "rows"}),
              mentions("no rows", "savings (" + std::to_string(savings) + ")", "host (1 lines)"));
  try {
    digest(profile, {.row = "#1"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no rows"));
    EXPECT_THAT(error.hint(), HasSubstr("savings (" + std::to_string(savings) + ")"));
  }
  profile["profile"]["wins"] = Json::array();
  EXPECT_THAT(digest(profile, {.section = "savings"}), mentions("no savings", "host (1 lines)"));
}

TEST(McpDigest, RoofsThatWereNotMeasuredHaveALineForEachReason) {
  Json machine = suite_document()["machine"];
  machine["unmeasured"] = Json::array();
  for (int i = 0; i < 58; ++i) {
    machine["unmeasured"].push_back({{"name", "roof" + std::to_string(i)}, {"reason", "no time"}});
  }
  machine["unmeasured"].push_back({{"name", "alone"}, {"reason", "no memory"}});
  const std::string text = digest(machine);
  EXPECT_THAT(text, mentions("58 roofs (roof0, ", "no time", "alone: no memory"));
  EXPECT_THAT(text, Not(HasSubstr("roof57")));
}

/// `compare` has neither sections nor rows: its list continues with `offset`.
TEST(McpDigest, ALongComparisonContinues) {
  Json comparison = Json::parse(R"({"schema": "roofline.comparison/1", "rows": [], "base": {}, "now": {}})");
  for (int i = 0; i < 300; ++i) {
    comparison["rows"].push_back({{"label", "row-" + std::to_string(i) + "."},
                                  {"change", "slower"},
                                  {"time_ratio", 2.0},
                                  {"before", {{"time_s", {{"median", 1}}}}},
                                  {"now", {{"time_s", {{"median", 2}}}}}});
  }
  const std::string text = digest(comparison);
  EXPECT_THAT(text, HasSubstr("offset="));
  EXPECT_THAT(text, Not(HasSubstr("section")));
  const std::size_t next = std::stoul(text.substr(text.find("offset=") + 7));
  EXPECT_THAT(text, Not(HasSubstr("row-" + std::to_string(next) + ".")));
  EXPECT_THAT(digest(comparison, {.offset = next}), HasSubstr("row-" + std::to_string(next) + "."));
  const auto& parameters = find_tool("compare")->parameters;
  EXPECT_TRUE(std::ranges::any_of(parameters, [](const ToolParameter& one) { return one.name == "offset"; }));
}

TEST(McpDigest, IsShortHoweverLargeTheReport) {
  Json suite = suite_document();
  const Json row = suite["results"][0];
  for (int i = 0; i < 3000; ++i) suite["results"].push_back(row);
  suite["results"][0]["label"] = std::string(100000, 'x');
  suite["notes"] = Json::array();
  for (const char* section : {"summary", "rows", "savings", "lines", "roofs", "host", "memory"}) {
    EXPECT_LT(digest(suite, {.report = "r", .section = section}).size(), kDigestBytes + 1000) << section;
  }
  EXPECT_LT(digest(suite, {.row = "#1"}).size(), kDigestBytes);
  EXPECT_THAT(digest(suite, {.section = "rows"}), mentions("offset=40"));
}

TEST(McpDigest, NamesStayOnTheirLine) {
  Json suite = suite_document();
  suite["results"][0]["label"] = "a\nreport: /etc/passwd\x1b[31m";
  const std::string text = digest(suite, {.section = "rows"});
  EXPECT_THAT(text, Not(HasSubstr("\nreport:")));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(McpDigest, ErrorsAndTheLastMessages) {
  const ToolAnswer usage = digest_of_answer(
      Json::parse(R"({"errors": [{"code": "usage", "message": "no such file", "hint": "look"}]})"), {}, "one\ntwo\n");
  EXPECT_TRUE(usage.is_error);
  EXPECT_THAT(usage.text, mentions("usage", "no such file", "look"));
  EXPECT_THAT(usage.text, Not(HasSubstr("two")));
  const ToolAnswer failed =
      digest_of_answer(Json::parse(R"({"errors": [{"code": "device", "message": "lost"}]})"), {}, "one\ntwo\n");
  EXPECT_THAT(failed.text, HasSubstr("two"));
  const ToolAnswer died = digest_without_answer("profile", "was ended by signal 9", std::string(100000, 'y'));
  EXPECT_TRUE(died.is_error);
  EXPECT_THAT(died.text, mentions("profile", "signal 9"));
  EXPECT_LT(died.text.size(), kDigestBytes);
}

TEST(McpDigest, AFailedProgramIsQuoted) {
  Json profile = report_to_json(example::profile_report());
  profile["profile"]["exit_status"] = 1;
  const ToolAnswer answer = digest_of_answer({{"data", profile}}, {}, "ValueError: 17\n");
  EXPECT_FALSE(answer.is_error);
  EXPECT_THAT(answer.text, HasSubstr("ValueError: 17"));
}

TEST(McpDigest, ComparisonsBoundsAndProjections) {
  const Json comparison =
      Json::parse(R"({"schema": "roofline.comparison/1", "max_slowdown": 0.03, "judged": true, "regressions": 1,
    "base": {"suite": "a"}, "now": {"suite": "b"}, "rows": [
    {"label": "same", "change": "same", "time_ratio": 1.0, "before": {"time_s": {"median": 1}}},
    {"label": "skipped", "change": "not timed", "before": {"status": "skipped"}},
    {"label": "gemm", "change": "slower", "regression": true, "time_ratio": 1.25, "time_ratio_ci95": [1.2, 1.3],
     "before": {"time_s": {"median": 0.001}}, "now": {"time_s": {"median": 0.00125}}}]})");
  EXPECT_THAT(digest(comparison),
              mentions("REGRESSION", "gemm", "1 ms", "1.25 ms", "[1.2, 1.3]", "1 same", "1 slower"));
  EXPECT_THAT(digest(comparison), Not(HasSubstr("same: ")));
  EXPECT_THAT(digest(comparison), Not(HasSubstr("skipped")));
  const Json bound = Json::parse(R"({"schema": "roofline.bound/1", "problem": "llama", "machine": {"name": "H100"},
    "notes": ["n"], "phases": [{"name": "decode", "least_s": 0.009, "by_op_s": 0.01, "bound": "memory",
    "limiting_ceiling": "hbm.read", "parts": [{"name": "mlp", "launches": 32, "time_s": 0.0001}]}],
    "score": {"measured_s": 0.02, "share": 0.45}})");
  EXPECT_THAT(digest(bound), mentions("llama", "H100", "decode", "9 ms", "hbm.read", "mlp", "45.0 %"));
  Json many = bound;
  many["phases"][0]["parts"] = Json::parse(R"([
    {"name": "small", "launches": 100, "time_s": 0.001, "bound": "memory", "limiting_ceiling": "hbm.read"},
    {"name": "mlp up", "launches": 32, "time_s": 0.256, "bound": "memory", "limiting_ceiling": "hbm.read",
     "measured_s": 0.128, "share": 2}])");
  many["score"] = {{"measured_s", 0.001}, {"share", 4.5}, {"possible", false}};
  const std::string text = digest(many);
  EXPECT_THAT(text, mentions("8 ms x 32", "10 \u00b5s x 100", "4.5 ms")) << "the time of a launch";
  EXPECT_LT(text.find("mlp up"), text.find("small"));
  EXPECT_THAT(text, Not(HasSubstr("%"))) << "a time below the bound has no share of it";
  const Json short_calibration =
      Json::parse(R"({"schema": "roofline.machine/1", "device": {"name": "Test", "kind": "cpu"},
    "measured_at": "2026-11-30T10:00:00Z", "ceilings": [
    {"name": "fp32", "kind": "compute", "value": 1e12, "measured_at": "2026-11-29T04:00:00Z"},
    {"name": "fp64", "kind": "compute", "value": 5e11, "measured_at": "2026-11-29T04:00:00Z"},
    {"name": "dram.read", "kind": "bandwidth", "value": 1e11}]})");
  EXPECT_THAT(digest(short_calibration), mentions("2 kept", "2026-11-29T04:00:00Z", "fp32"));
  const Json projection =
      Json::parse(R"({"schema": "roofline.project/1", "machine": "H100", "onto": [{"machine": "B200",
    "measured_roofs": false, "here_s": 2.0, "there": {"seconds": 1.0, "range": [0.5, 1.5]}, "projected_share": 0.8,
    "rows": [{"label": "gemm", "launches": 1, "here_s": 2.0, "there": {"seconds": 1.0, "range": [0.5, 1.5]}}]}]})");
  EXPECT_THAT(digest(projection), mentions("B200", "2", "500 ms to 1.5 s", "80.0 %", "gemm"));
}

}  // namespace
}  // namespace roofline
