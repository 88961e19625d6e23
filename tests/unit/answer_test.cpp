// The envelope that programs get.
#include "cli/answer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRun = R"({"schema": "roofline.report/1", "notes": ["a neighbour"], "machine": {}, "results": [
  {"workload": "gemm", "label": "gemm A", "impl": "tiled", "dtype": "fp32", "shape": {"m": 4, "k": 2}, "cache": "cold",
   "status": "ok", "time_s": {"median": 3.0}, "attainable_time_s": 2.0},
  {"workload": "relu", "label": "relu", "dtype": "fp32", "shape": {"n": 8}, "cache": "cold", "status": "failed",
   "reason": "wrong by 3", "absent": {"bound": "nothing was timed"}},
  {"workload": "relu", "label": "relu", "dtype": "fp16", "shape": {"n": 8}, "cache": "hot", "status": "ok",
   "time_s": {"median": 9.0}, "attainable_time_s": 2.0}]})";

Json answer_of(const Answer& answer, const AnswerRequest& request = {}, ExitCode code = ExitCode::ok) {
  return Json::parse(render_answer(answer, "analyze", request, code));
}

TEST(Answer, AResultWithItsWarnings) {
  const Json whole = answer_of({.data = Json::parse(kRun), .warnings = {"the roofs are old"}});
  EXPECT_EQ(whole["schema"], kAnswerSchema);
  EXPECT_EQ(whole["ok"], true);
  EXPECT_EQ(whole["exit_code"], 0);
  EXPECT_EQ(whole["command"], "analyze");
  EXPECT_EQ(whole["errors"], Json::array());
  EXPECT_EQ(whole["warnings"], Json::parse(R"([{"message": "the roofs are old"}, {"message": "a neighbour"}])"));
  EXPECT_EQ(whole["rows"], Json::parse(R"({"total": 3, "shown": 3})"));
  EXPECT_EQ(whole["data"]["results"].size(), 3U);
}

TEST(Answer, IdsSayWhatARowIsOf) {
  const Json rows = answer_of({.data = Json::parse(kRun)})["data"]["results"];
  EXPECT_EQ(rows[0]["id"], "gemm/tiled/fp32/m=4,k=2/cold");
  EXPECT_EQ(rows[1]["id"], "relu/fp32/n=8/cold");
  Json run = Json::parse(kRun);
  std::swap(run["results"][0], run["results"][2]);
  run["results"][1] = run["results"][0];
  const Json moved = answer_of({.data = run})["data"]["results"];
  EXPECT_EQ(moved[2]["id"], "gemm/tiled/fp32/m=4,k=2/cold");
  EXPECT_EQ(moved[0]["id"], "relu/fp16/n=8/hot");
  EXPECT_EQ(moved[1]["id"], "relu/fp16/n=8/hot#2");
}

TEST(Answer, TopIsWhatCouldBeWonMost) {
  const Json whole = answer_of({.data = Json::parse(kRun)}, {.json = true, .top = 1, .fields = {}});
  ASSERT_EQ(whole["data"]["results"].size(), 1U);
  EXPECT_EQ(whole["data"]["results"][0]["id"], "relu/fp16/n=8/hot");
  EXPECT_EQ(whole["rows"], Json::parse(R"({"total": 3, "shown": 1})"));
  EXPECT_TRUE(whole["data"].contains("machine"));
}

TEST(Answer, FieldsAndWhyOneIsAbsent) {
  const Json whole =
      answer_of({.data = Json::parse(kRun)}, {.json = true, .top = {}, .fields = {"label", "time_s.median", "bound"}});
  EXPECT_EQ(whole["data"], Json::parse(R"({"schema": "roofline.report/1", "results": [
    {"id": "gemm/tiled/fp32/m=4,k=2/cold", "label": "gemm A", "time_s.median": 3.0,
     "absent": {"bound": "this row lacks the field"}},
    {"id": "relu/fp32/n=8/cold", "label": "relu",
     "absent": {"time_s.median": "wrong by 3", "bound": "nothing was timed"}},
    {"id": "relu/fp16/n=8/hot", "label": "relu", "time_s.median": 9.0,
     "absent": {"bound": "this row lacks the field"}}]})"));
}

TEST(Answer, AFieldThatNoRowHasMayBeASlip) {
  const Json whole = answer_of({.data = Json::parse(kRun)}, {.json = true, .top = {}, .fields = {"statuss"}});
  EXPECT_THAT(whole["warnings"].back()["message"].get<std::string>(), mentions("--fields: ", "'statuss'", "'status'"));
}

TEST(Answer, FailedRowsAreErrorsAlsoWhereTheyAreNotShown) {
  const Json whole =
      answer_of({.data = Json::parse(kRun)}, {.json = true, .top = 1, .fields = {"label"}}, ExitCode::workload_failed);
  EXPECT_EQ(whole["ok"], false);
  ASSERT_EQ(whole["errors"].size(), 1U);
  EXPECT_EQ(whole["errors"][0]["code"], "row_failed");
  EXPECT_EQ(whole["errors"][0]["message"], "relu: wrong by 3");
  EXPECT_EQ(whole["errors"][0]["row"], "relu/fp32/n=8/cold");
}

TEST(Answer, AMistakeHasNoDataAndSaysSo) {
  const Json whole = answer_of({.errors = {{"usage", "no such file", ""}}}, {}, ExitCode::usage);
  EXPECT_EQ(whole["exit_code"], 2);
  EXPECT_EQ(whole["errors"],
            Json::parse(R"([{"code": "usage", "message": "no such file", "hint": "see: roofline help analyze"}])"));
  EXPECT_FALSE(whole.contains("data"));
  EXPECT_EQ(whole["absent"]["data"], "see errors");
}

TEST(Answer, NoExitCodeWithoutAnError) {
  for (const ExitCode code : {ExitCode::workload_failed, ExitCode::usage, ExitCode::regression,
                              ExitCode::device_unusable, ExitCode::cancelled, static_cast<ExitCode>(17)}) {
    const Json whole = answer_of({.data = Json::parse(kRun)}, {}, code);
    EXPECT_FALSE(whole["errors"].empty()) << static_cast<int>(code);
  }
  EXPECT_EQ(error_code(static_cast<ExitCode>(17)), "program_failed");
}

TEST(Answer, TheProgramsExitStatusIsNoFailedRow) {
  Json run = Json::parse(kRun);
  run["results"] = Json::array();
  run["profile"]["exit_status"] = 1;
  EXPECT_EQ(answer_of({.data = run}, {}, ExitCode::workload_failed)["errors"][0]["code"], "program_failed");
  run["profile"] = {{"signal", 9}};
  EXPECT_EQ(answer_of({.data = run}, {}, static_cast<ExitCode>(137))["errors"][0]["code"], "program_failed");
  run["profile"] = {{"exit_status", 0}};
  EXPECT_EQ(answer_of({.data = run}, {}, ExitCode::device_unusable)["errors"][0]["code"], "device");
}

TEST(Answer, AskedForBeforeWhatBelongsToAProgram) {
  const char* ours[] = {"roofline", "profile", "--json", "--", "a"};
  const char* theirs[] = {"roofline", "profile", "--", "a", "--json"};
  EXPECT_TRUE(asks_for_json(5, ours));
  EXPECT_FALSE(asks_for_json(5, theirs));
}

}  // namespace
}  // namespace roofline
