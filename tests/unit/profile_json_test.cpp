// A program's profile in report.json: exact round trips, the keys of the schema, and complaints that name the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>

#include "model/error.hpp"
#include "report/json/json.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/profile_report.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;

std::string profile_complaint_after(const std::function<void(Json&)>& edit) {
  Json json = report_to_json(example::profile_report());
  edit(json);
  try {
    parse_report(json.dump(), "run.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(read without complaint)";
}

/// What the schema's structure refuses of a value: types, keys, words; enough to find a key that one of both lacks.
class Schema {
 public:
  Schema() {
    std::ifstream file(std::string(ROOFLINE_SOURCE_DIR) + "/docs/schema/report.schema.json");
    root_ = Json::parse(file);
  }

  void check(const Json& value) const { check(value, root_, "report"); }

 private:
  void check(const Json& value, const Json& schema, const std::string& at) const {
    if (schema.contains("$ref")) {
      check(value, root_["$defs"][schema["$ref"].get<std::string>().substr(std::string("#/$defs/").size())], at);
    }
    if (schema.contains("type")) {
      EXPECT_TRUE(is(value, schema["type"])) << at << ": " << value.type_name();
    }
    if (schema.contains("enum")) {
      EXPECT_NE(std::find(schema["enum"].begin(), schema["enum"].end(), value), schema["enum"].end()) << at << value;
    }
    if (schema.contains("minimum") && value.is_number()) {
      EXPECT_GE(value.get<double>(), schema["minimum"].get<double>()) << at;
    }
    if (schema.contains("items") && schema["items"].is_object()) {
      for (const Json& element : value) check(element, schema["items"], at + "[]");
    }
    if (schema.contains("properties") && value.is_object()) check_members(value, schema, at);
  }

  void check_members(const Json& value, const Json& schema, const std::string& at) const {
    for (const auto& [key, member] : value.items()) {
      const bool known = schema["properties"].contains(key);
      EXPECT_TRUE(known || schema.value("additionalProperties", Json(true)) != Json(false)) << at << "." << key;
      if (known && schema["properties"][key].is_object()) check(member, schema["properties"][key], at + "." + key);
    }
    if (!schema.contains("required")) return;
    for (const std::string key : schema["required"]) EXPECT_TRUE(value.contains(key)) << at << "." << key;
  }

  static bool is(const Json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == value.type_name();
  }

  Json root_;
};

TEST(ProfileJson, RoundTripIsExact) {
  for (const Report& report : {example::profile_report(), example::stepped_profile_report(),
                               example::uncounted_profile_report(), example::small_profile_report()}) {
    const std::string text = render_json(report);
    EXPECT_EQ(render_json(parse_report(text, "run.json")), text);
  }
}

TEST(ProfileJson, TheRecordedShareIsWrittenWhereItIsNotAll) {
  Report report = example::profile_report();
  EXPECT_FALSE(Json::parse(render_json(report))["profile"].contains("recorded_share"));
  EXPECT_EQ(parse_report(render_json(report), "run.json").profile->recorded_share, 1);
  report.profile->recorded_share = 0.125;
  EXPECT_EQ(parse_report(render_json(report), "run.json").profile->recorded_share, 0.125);
}

TEST(ProfileJson, ReadingRestoresTheValuesThemselves) {
  const Report written = example::profile_report();
  const Report read = parse_report(render_json(written), "run.json");
  ASSERT_TRUE(read.profile);
  const Profile& before = *written.profile;
  const Profile& after = *read.profile;
  EXPECT_EQ(after.program, before.program);
  EXPECT_EQ(after.exit_status, 0);
  EXPECT_FALSE(after.signal);
  EXPECT_EQ(after.untraced_s, before.untraced_s);
  EXPECT_EQ(after.devices[0].idle_launching_s, before.devices[0].idle_launching_s);
  EXPECT_EQ(after.devices[0].at_roof_s, before.devices[0].at_roof_s);
  EXPECT_EQ(after.savings.size(), before.savings.size());
  EXPECT_EQ(after.savings[0].point, before.savings[0].point);
  EXPECT_EQ(after.modules[1].parent, before.modules[1].parent);
  EXPECT_EQ(after.modules[0].parent, -1);
  EXPECT_EQ(after.lines[0].number, before.lines[0].number);
  EXPECT_EQ(after.copies.back().roof, "");
  EXPECT_EQ(after.timeline->lanes[0].slices.back().point, before.timeline->lanes[0].slices.back().point);
  EXPECT_EQ(after.timeline->lanes[2].slices[0].text, "cudaLaunchKernel");
  const ProfiledKind& kind = *read.points[5].profiled;
  EXPECT_EQ(kind.full_name, written.points[5].profiled->full_name);
  EXPECT_EQ(kind.grid, written.points[5].profiled->grid);
  EXPECT_EQ(kind.module, "blocks.0.attn.proj");
  EXPECT_TRUE(kind.complete);
  EXPECT_FALSE(read.points[5].verification);
}

TEST(ProfileJson, ReadingRestoresTheSteps) {
  Report written = example::stepped_profile_report();
  written.profile->steps->untouched_s = 13.1e-3;
  written.profile->steps->untouched_ci95 = {13.0e-3, 13.2e-3};
  written.profile->steps->ci95 = {13.3e-3, 13.5e-3};
  written.profile->steps->mean_ci95 = {13.6e-3, 14.1e-3};
  written.points[4].profiled->step.reset();
  written.points[5].profiled->step = {.launches = 2.5, .seconds = 0.7e-3};
  const Report read = parse_report(render_json(written), "run.json");
  ASSERT_TRUE(read.profile->steps);
  const Steps& before = *written.profile->steps;
  const Steps& after = *read.profile->steps;
  EXPECT_EQ(after.source, StepSource::optimizer);
  EXPECT_EQ(after.count, before.count);
  EXPECT_EQ(after.median_s, before.median_s);
  EXPECT_EQ(after.untouched_s, before.untouched_s);
  EXPECT_EQ(after.untouched_ci95.high, before.untouched_ci95.high);
  EXPECT_EQ(after.ci95.low, before.ci95.low);
  EXPECT_EQ(after.mean_ci95.high, before.mean_ci95.high);
  EXPECT_EQ(read.points[5].profiled->step.value().launches, 2.5);
  EXPECT_EQ(read.points[5].profiled->step.value().seconds, 0.7e-3);
  EXPECT_FALSE(read.points[4].profiled->step);
  EXPECT_EQ(after.start_up.at(1).part, StartUpPart::loading);
  EXPECT_EQ(after.devices.at(0).kernels_s, before.devices[0].kernels_s);
  EXPECT_EQ(after.slow.at(0).different, before.slow[0].different);
  for (std::size_t i = 0; i < written.profile->savings.size(); ++i) {
    EXPECT_EQ(read.profile->savings[i].cause, written.profile->savings[i].cause);
    EXPECT_EQ(read.profile->savings[i].line, written.profile->savings[i].line);
    EXPECT_EQ(read.profile->savings[i].one_off, written.profile->savings[i].one_off);
  }
  Report without = example::profile_report();
  without.profile->why_no_steps = "most launches do not repeat";
  EXPECT_EQ(parse_report(render_json(without), "run.json").profile->why_no_steps, without.profile->why_no_steps);
}

TEST(ProfileJson, SavingsOfOlderFilesHaveTheCauseOfTheirKind) {
  Json json = report_to_json(example::profile_report());
  for (Json& win : json["profile"]["wins"]) win.erase("cause");
  const Report read = parse_report(json.dump(), "run.json");
  for (const Saving& saving : read.profile->savings) {
    const SavingCause expected = saving.kind == SavingKind::idle     ? SavingCause::unknown_idle
                                 : saving.kind == SavingKind::copies ? SavingCause::copies
                                 : saving.kind == SavingKind::fusion ? SavingCause::fusion
                                                                     : SavingCause::kernel;
    EXPECT_EQ(saving.cause, expected);
  }
}

TEST(ProfileJson, EveryCauseHasAWordOfTheSchema) {
  std::ifstream file(std::string(ROOFLINE_SOURCE_DIR) + "/docs/schema/report.schema.json");
  const Json schema = Json::parse(file);
  const Json& words = schema["$defs"]["profile"]["properties"]["wins"]["items"]["properties"]["cause"]["enum"];
  ASSERT_EQ(words.size(), static_cast<std::size_t>(SavingCause::unknown_idle) + 1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto cause = static_cast<SavingCause>(i);
    EXPECT_EQ(words[i], to_string(cause));
    EXPECT_EQ(parse_saving_cause(to_string(cause)), cause);
  }
  EXPECT_FALSE(parse_saving_cause("luck"));
}

TEST(ProfileJson, TheSchemaHasItsKeys) {
  const Schema schema;
  for (const Report& report :
       {example::profile_report(), example::stepped_profile_report(), example::uncounted_profile_report(),
        example::small_profile_report(), example::sample_report()}) {
    schema.check(report_to_json(report));
  }
}

TEST(ProfileJson, ATimelineIsReadAsItWasWritten) {
  const Report written = example::stepped_profile_report();
  const Timeline& before = *written.profile->timeline;
  const Timeline after = *parse_report(render_json(written), "run.json").profile->timeline;
  EXPECT_EQ(after.step, before.step);
  EXPECT_EQ(after.hidden_threads, before.hidden_threads);
  ASSERT_EQ(after.lanes.size(), before.lanes.size());
  for (std::size_t i = 0; i < before.lanes.size(); ++i) {
    EXPECT_EQ(after.lanes[i].kind, before.lanes[i].kind);
    const Slice &a = after.lanes[i].slices.back(), &b = before.lanes[i].slices.back();
    EXPECT_EQ(std::tie(a.start_s, a.end_s, a.point, a.text, a.line, a.state, a.cause, a.merged, a.busy_s),
              std::tie(b.start_s, b.end_s, b.point, b.text, b.line, b.state, b.cause, b.merged, b.busy_s));
  }
}

TEST(ProfileJson, ALaneOfAnEarlierVersionOnlySaysWhetherItIsTheHosts) {
  Json json = report_to_json(example::profile_report());
  for (Json& lane : json["profile"]["timeline"]["lanes"]) lane.erase("kind");
  const Timeline read = *parse_report(json.dump(), "run.json").profile->timeline;
  EXPECT_EQ(read.lanes[0].kind, LaneKind::stream);
  EXPECT_EQ(read.lanes[2].kind, LaneKind::calls);
  EXPECT_FALSE(read.step);
}

TEST(ProfileJson, EachFigureSaysWhereItIsFrom) {
  const Json json = report_to_json(example::profile_report());
  EXPECT_EQ(json["profile"]["sources"]["kernel_s"], "traced");
  EXPECT_EQ(json["profile"]["sources"]["at_roof_s"], "counted");
  EXPECT_EQ(json["results"][0]["profiled"]["sources"]["work"], "counted");
  const Json without = report_to_json(example::uncounted_profile_report());
  EXPECT_FALSE(without["profile"]["sources"].contains("at_roof_s"));
  EXPECT_FALSE(without["results"][0]["profiled"]["sources"].contains("work"));
  const std::string why = example::uncounted_profile_report().points[0].profiled->not_counted;
  EXPECT_EQ(without["results"][0]["absent"]["arithmetic_intensity"], why);
  EXPECT_EQ(without["results"][0]["absent"]["bound"], why);
}

TEST(ProfileJson, HostileNamesAreRepairedAndNotRefused) {
  Report hostile = example::hostile_profile_report();
  hostile.profile->copies[2].total_s = 0;  // a negative one is refused
  const Report read = parse_report(render_json(hostile), "run.json");
  EXPECT_EQ(read.points.size(), example::profile_report().points.size());
}

TEST(ProfileJson, WhatCannotBeIsRefusedWithItsPlace) {
  const auto profile = [](const char* key, const Json& value) {
    return profile_complaint_after([&](Json& json) { json["profile"][key] = value; });
  };
  EXPECT_THAT(profile("wall_s", "long"), mentions("run.json: profile.wall_s: ", "number", "string"));
  EXPECT_THAT(profile("wall_s", -1), mentions("run.json: profile.wall_s: "));
  EXPECT_THAT(profile("wins", 3), mentions("run.json: profile.wins: ", "array"));
  EXPECT_THAT(profile_complaint_after([](Json& j) { j["profile"].erase("kernel_s"); }),
              mentions("profile.kernel_s: ", "missing"));
  EXPECT_THAT(profile_complaint_after([](Json& j) { j["profile"]["wins"][1]["kind"] = "luck"; }),
              mentions("profile.wins[1].kind: ", "'luck'"));
  EXPECT_THAT(profile_complaint_after([](Json& j) { j["profile"]["wins"][1]["cause"] = "luck"; }),
              mentions("profile.wins[1].cause: ", "'luck'"));
  EXPECT_THAT(profile_complaint_after([](Json& j) { j["profile"]["wins"][0]["result"] = 999; }),
              mentions("profile.wins[0].result: ", "999"));
  EXPECT_THAT(profile_complaint_after([](Json& j) { j["profile"]["wins"][0]["result"] = -1; }),
              mentions("profile.wins[0].result: "));
  EXPECT_THAT(profile_complaint_after([](Json& j) { j["profile"]["modules"][0]["parent"] = 0; }),
              mentions("profile.modules[0].parent: "));
  EXPECT_THAT(
      profile_complaint_after([](Json& j) { j["profile"]["timeline"]["lanes"][0]["slices"][2]["result"] = 1e9; }),
      mentions("profile.timeline.lanes[0].slices[2].result: ", "integer"));
  EXPECT_THAT(
      profile_complaint_after([](Json& j) { j["profile"]["timeline"]["lanes"][0]["slices"][2]["result"] = 999; }),
      mentions("profile.timeline.lanes[0].slices[2].result: ", "999"));
  EXPECT_THAT(
      profile_complaint_after([](Json& j) { j["profile"]["timeline"]["lanes"][0]["slices"][2]["result"] = 1L << 33; }),
      mentions("profile.timeline.lanes[0].slices[2].result: "));
  EXPECT_THAT(
      profile_complaint_after([](Json& j) { j["profile"]["timeline"]["lanes"][2]["slices"][0]["state"] = "idle"; }),
      mentions("profile.timeline.lanes[2].slices[0].state: ", "'idle'"));
  EXPECT_THAT(profile_complaint_after([](Json& j) { j["profile"]["lines"][0]["line"] = 5000000000; }),
              mentions("profile.lines[0].line: "));
  EXPECT_THAT(profile_complaint_after([](Json& j) {
                j["results"][2]["profiled"]["grid"] = {1, 2};
              }),
              mentions("results[2].profiled.grid: "));
  EXPECT_THAT(profile_complaint_after([](Json& j) { j["results"][2]["profiled"].erase("launches"); }),
              mentions("results[2].profiled.launches: ", "missing"));
}

TEST(ProfileJson, AReportOfASuiteHasNone) {
  const Json json = report_to_json(example::sample_report());
  EXPECT_FALSE(json.contains("profile"));
  EXPECT_FALSE(json["results"][0].contains("profiled"));
  EXPECT_FALSE(parse_report(json.dump(), "run.json").profile);
}

}  // namespace
}  // namespace roofline
