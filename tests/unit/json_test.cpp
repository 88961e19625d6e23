// report.json and machine.json: exact round trips, the keys of the contract, and complaints that name the place.
#include "report/json/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "json_sample.hpp"
#include "model/error.hpp"
#include "render/render.hpp"
#include "report/json/json_value.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;

Json sample_json() { return report_to_json(sample_report()); }

/// What reading the sample says after `edit` has changed it.
std::string complaint_after(const std::function<void(Json&)>& edit) {
  Json json = sample_json();
  edit(json);
  try {
    parse_report(json.dump(), "run.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(read without complaint)";
}

std::string machine_complaint(const std::string& text) {
  try {
    parse_machine(text, "m.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(read without complaint)";
}

/// Nothing runs in no time, and less.
TEST(Json, ATimeOfNothingIsRefusedWithItsKey) {
  for (const double bad : {0.0, -1e-3}) {
    for (const char* key : {"median", "quantiles", "clock_hz", "attainable_time_s"}) {
      const std::string complaint = complaint_after([&](Json& json) {
        Json& row = json["results"][0];
        Json& time = row["time_s"];
        if (std::string(key) == "quantiles") {
          time["quantiles"]["q05"] = bad;
        } else {
          (row.contains(key) ? row[key] : time[key]) = bad;
        }
      });
      EXPECT_THAT(complaint, testing::AllOf(HasSubstr("results[0]"), HasSubstr(key), HasSubstr("more than 0"))) << bad;
    }
  }
}

TEST(Json, ReportRoundTripIsExact) {
  const std::string text = render_json(sample_report());
  EXPECT_EQ(render_json(parse_report(text, "run.json")), text);
}

TEST(Json, ReadingRestoresTheValuesThemselves) {
  const Report written = sample_report();
  const Report read = parse_report(render_json(written), "run.json");
  ASSERT_EQ(read.points.size(), 3U);
  const Point& before = written.points[0];
  const Point& after = read.points[0];
  EXPECT_EQ(after.workload.shape, before.workload.shape);
  EXPECT_EQ(after.workload.seed, before.workload.seed);
  EXPECT_EQ(after.workload.cache, CacheMode::hot);
  EXPECT_EQ(after.time->median, before.time->median);
  EXPECT_EQ(after.time->stop, StopReason::time_limit);
  EXPECT_EQ(after.raw_samples, before.raw_samples);
  EXPECT_EQ(after.bound.label, before.bound.label);
  EXPECT_EQ(after.bound.arithmetic_intensity, before.bound.arithmetic_intensity);
  EXPECT_EQ(after.bound.ridge, before.bound.ridge);
  EXPECT_EQ(after.bound.attainable_time_s, before.bound.attainable_time_s);
  EXPECT_TRUE(after.bound.suspect);  // dram.copy failed its audit
  EXPECT_EQ(after.fraction_of_roof(), before.fraction_of_roof());
  EXPECT_EQ(after.above_roof(), before.above_roof());
  EXPECT_TRUE(std::isnan(read.points[1].verification->error));
  EXPECT_FALSE(read.points[1].time);
  EXPECT_FALSE(read.points[2].verification);
  EXPECT_TRUE(std::isnan(read.points[2].bound.attainable_time_s));
  EXPECT_EQ(read.machine.device.caches.size(), 2U);
  EXPECT_TRUE(std::isnan(read.machine.ceilings[1].ci95.low));
  EXPECT_TRUE(read.machine.ceilings[1].suspect());
  EXPECT_EQ(read.machine.ceilings[0].limit->basis, "2 x 2500 MHz x 64 bit");
  EXPECT_EQ(read.machine.ceilings[2].regime, Regime::burst);
  EXPECT_EQ(read.machine.ceilings[3].regime, Regime::sustained);
  EXPECT_EQ(read.machine.ceilings[3].power.limiter, "thermal");
  EXPECT_EQ(read.machine.ceilings[5].role, Role::reference);
  EXPECT_EQ(read.machine.sweeps[1].saturates_at, 2);
  EXPECT_FALSE(read.machine.device.memory_hz);
  EXPECT_EQ(read.invocation.command, written.invocation.command);
  EXPECT_EQ(read.invocation.suite_text, written.invocation.suite_text);
  EXPECT_TRUE(read.cancelled);
}

TEST(Json, TrafficInPlaceAndMixedRoofsAreKept) {
  Report written = sample_report();
  Point& point = written.points[0];
  point.work.bytes[Level::dram] = {.read = 4e6, .write = 2e6, .in_place = true};
  point.bound = bound_of(point.work, written.machine);  // two thirds of the way from dram.read to dram.copy
  const Point read = parse_report(render_json(written), "run.json").points.at(0);
  EXPECT_TRUE(read.work.bytes.at(Level::dram).in_place);
  EXPECT_EQ(read.bound.limiting_ceiling, "dram.copy");
  EXPECT_EQ(read.bound.resources.front().mixed_with, "dram.read");
}

/// As files of version 0.1 have it.
TEST(Json, TrafficElsewhereAndMeasuredMixesHaveNoSuchKeys) {
  const std::string text = render_json(sample_report());
  EXPECT_EQ(text.find("in_place"), std::string::npos);
  EXPECT_EQ(text.find("mixed_with"), std::string::npos);
  const Point read = parse_report(text, "run.json").points.at(0);
  EXPECT_FALSE(read.work.bytes.at(Level::dram).in_place);
  EXPECT_FALSE(read.bound.resources.front().mixed_with);
}

TEST(Json, AnyFiniteDoubleSurvivesTheRoundTrip) {
  std::mt19937_64 bits(7);
  Report report = sample_report();
  report.points.resize(1);
  std::vector<double>& samples = report.points[0].raw_samples;
  while (samples.size() < 20000) {
    const std::uint64_t pattern = bits();
    double value = 0;
    std::memcpy(&value, &pattern, sizeof value);
    if (std::isfinite(value)) samples.push_back(value);
  }
  EXPECT_EQ(parse_report(render_json(report), "run.json").points[0].raw_samples, samples);
}

TEST(Json, MachineRoundTripIsExact) {
  const std::string text = machine_to_json(sample_machine()).dump();
  EXPECT_EQ(machine_to_json(parse_machine(text, "m.json")).dump(), text);
}

TEST(Json, AMachineIsReadOutOfAReportToo) {
  EXPECT_EQ(parse_machine(render_json(sample_report()), "run.json").device.identity, "some-cpu-2t");
}

TEST(Json, KeysAreThoseOfTheContract) {
  const Json row = sample_json()["results"][0];
  EXPECT_EQ(row["workload"], "relu");
  EXPECT_EQ(row["impl"], "vectorized");
  EXPECT_EQ(row["dtype"], "fp32");
  EXPECT_EQ(row["shape"]["n"], 1000003);
  EXPECT_EQ(row["status"], "ok");
  EXPECT_EQ(row["work"]["flops"]["fp32"], 1000003.0);
  EXPECT_EQ(row["work"]["bytes"]["dram"], 8000024.0);
  EXPECT_EQ(row["work"]["traffic"]["dram"]["write"], 4000012.0);
  EXPECT_EQ(row["arithmetic_intensity"], 0.125);
  EXPECT_EQ(row["time_s"]["median"], 1.0 / 300.0);
  EXPECT_EQ(row["time_s"]["samples"], 48);
  EXPECT_EQ(row["time_s"]["quantiles"]["q95"], 0.0035);
  EXPECT_DOUBLE_EQ(row["performance_flops_per_s"].get<double>(), 1000003 * 300.0);
  EXPECT_DOUBLE_EQ(row["bandwidth_bytes_per_s"].get<double>(), 8000024 * 300.0);
  EXPECT_EQ(row["bound"], "memory");
  EXPECT_EQ(row["limiting_ceiling"], "dram.copy");
  EXPECT_DOUBLE_EQ(row["attainable_time_s"].get<double>(), 8000024 / 3e9);
  EXPECT_EQ(row["paired"]["ceiling"], "dram.copy");
  EXPECT_EQ(row["paired"]["pairs"], 37);
  EXPECT_EQ(row["paired"]["probe_value"], 1e9 / 3.0);
  EXPECT_EQ(row["tried"].size(), 2U);
  EXPECT_EQ(row["tried"][1]["configuration"], "STEP=16");
  EXPECT_EQ(row["tried"][1]["time_s"], 1.0 / 270.0);
  EXPECT_EQ(row["fraction_of_roof"], 1.0 / 1.1) << "the paired one, not attainable over measured time";
  EXPECT_EQ(row["verification"]["status"], "pass");
  EXPECT_EQ(sample_json()["machine"]["ceilings"][0]["unit"], "byte/s");
}

TEST(Json, WhatIsAbsentIsAbsentWithAReason) {
  const Json json = sample_json();
  const Json& failed = json["results"][1];
  EXPECT_FALSE(failed.contains("time_s"));
  EXPECT_FALSE(failed.contains("performance_flops_per_s"));
  EXPECT_FALSE(failed.contains("fraction_of_roof"));
  EXPECT_EQ(failed["reason"], "output 3 is NaN");
  EXPECT_FALSE(failed["verification"].contains("error"));
  EXPECT_TRUE(failed["verification"]["absent"].contains("error"));
  const Json& skipped = json["results"][2];
  for (const char* key :
       {"impl", "verification", "bound", "limiting_ceiling", "attainable_time_s", "ridge", "arithmetic_intensity"}) {
    EXPECT_FALSE(skipped.contains(key)) << key;
  }
  for (const char* key : {"bound", "ridge", "arithmetic_intensity"}) {
    EXPECT_TRUE(skipped["absent"].contains(key)) << key;
  }
  EXPECT_TRUE(json["machine"]["ceilings"][1]["absent"].contains("ci95"));
  EXPECT_THAT(json.dump(), testing::Not(HasSubstr("null")));
}

TEST(Json, WhereTheWorkOfARowIsDoneIsKept) {
  Report report = sample_report();
  Work& work = report.points[0].work;
  work.threads = 1;
  work.cache = Level::l2;
  work.write_only = 1e6 / 3;
  report.points[0].bound.provisional = true;
  const Point point = parse_report(report_to_json(report).dump(), "run.json").points[0];
  EXPECT_EQ(point.work.threads, 1);
  EXPECT_EQ(point.work.cache, Level::l2);
  EXPECT_EQ(point.work.write_only, 1e6 / 3);
  EXPECT_TRUE(point.bound.provisional);
  const Json plain = sample_json();
  for (const char* key : {"threads", "cache", "write_only"}) EXPECT_FALSE(plain["results"][0]["work"].contains(key));
}

TEST(Json, TextThatIsNoUtf8IsRepaired) {
  Report report = sample_report();
  report.notes = {"bad \xff byte"};
  EXPECT_THAT(parse_report(render_json(report), "run.json").notes[0], StartsWith("bad \xEF\xBF\xBD"));
}

TEST(Json, ComplaintsNameFileAndPlace) {
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][0]["time_s"]["median"] = "fast"; }),
              mentions("run.json: results[0].time_s.median: ", "number", "string"));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][0]["time_s"].erase("median"); }),
              mentions("run.json: results[0].time_s.median: ", "missing"));
  EXPECT_THAT(complaint_after([](Json& j) { j.erase("machine"); }), mentions("run.json: machine: ", "missing"));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"] = 3; }), mentions("run.json: results: ", "array", "number"));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][0]["shape"]["n"] = 1.5; }),
              mentions("run.json: results[0].shape.n: ", "integer", "number"));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][2]["dtype"] = "fp12"; }),
              mentions("run.json: results[2].dtype: ", "'fp12'"));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][0]["samples_s"][2] = false; }),
              mentions("run.json: results[0].samples_s[2]: ", "number", "boolean"));
  EXPECT_THAT(complaint_after([](Json& j) { j = Json::array(); }), mentions("run.json: ", "object", "array"));
  EXPECT_THAT(complaint_after([](Json& j) {
                j["machine"]["ceilings"][0]["ci95"] = {2, 1};
              }),
              mentions("run.json: machine.ceilings[0].ci95: "));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][1]["work"]["flops"]["warp"] = 1; }),
              mentions("run.json: results[1].work.flops.warp: ", "'warp'"));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][0]["seed"] = -1; }),
              mentions("run.json: results[0].seed: ", "integer", "number"));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][1].erase("reason"); }),
              mentions("run.json: results[1].reason: ", "missing"));
}

TEST(Json, ContradictionsAreRefused) {
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][0]["work"]["bytes"]["dram"] = 1; }),
              mentions("results[0].work.bytes.dram: "));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][0]["work"]["traffic"].erase("dram"); }),
              mentions("results[0].work.bytes.dram: "));
  EXPECT_THAT(complaint_after([](Json& j) { j["machine"]["ceilings"][1]["audit"]["status"] = "pass"; }),
              mentions("machine.ceilings[1].audit.status: "));
  EXPECT_THAT(complaint_after([](Json& j) { j["results"][1]["time_s"] = j["results"][0]["time_s"]; }),
              mentions("results[1].time_s: ", "'ok'"));
  EXPECT_THAT(complaint_after([](Json& j) { j["machine"]["ceilings"][2]["unit"] = "byte/s"; }),
              mentions("machine.ceilings[2].unit: ", "'FLOP/s'"));
}

TEST(Json, UnknownVersionsAreRefusedAndUnknownKeysAreNot) {
  EXPECT_THAT(complaint_after([](Json& j) { j["schema"] = "roofline.report/2"; }),
              mentions("run.json: schema: ", "'roofline.report/1'", "'roofline.report/2'"));
  EXPECT_THAT(complaint_after([](Json& j) { j["machine"]["schema"] = "roofline.machine/7"; }),
              mentions("run.json: machine.schema: ", "'roofline.machine/1'", "'roofline.machine/7'"));
  EXPECT_THAT(complaint_after([](Json& j) { j["schema"] = "something"; }),
              mentions("run.json: schema: ", "'roofline.report/1'", "'something'"));
  EXPECT_THAT(complaint_after([](Json& j) { j.erase("schema"); }), mentions("run.json: schema: ", "missing"));
  EXPECT_EQ(complaint_after([](Json& j) { j["results"][0]["of_tomorrow"] = {{"a", 1}}; }), "(read without complaint)");
}

TEST(Json, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_THAT(machine_complaint("{\n  \"schema\": oops\n}"), StartsWith("m.json:2:13: "));
  EXPECT_THAT(machine_complaint(""), StartsWith("m.json:1:1: "));
  EXPECT_THAT(machine_complaint("{\"a\": 1e999}"), mentions("m.json: "));
  EXPECT_THAT(machine_complaint("{\"a\": NaN}"), StartsWith("m.json:1:7: "));
  const std::string whole = render_json(sample_report());
  EXPECT_THAT(machine_complaint(whole.substr(0, whole.size() / 2)),
              testing::MatchesRegex("m\\.json:[0-9]+:[0-9]+: .*"));
}

TEST(JsonSchema, VocabulariesAreThoseOfTheProgram) {
  std::ifstream file(std::string(ROOFLINE_SOURCE_DIR) + "/docs/schema/report.schema.json");
  const Json definitions = Json::parse(file)["$defs"];
  const auto listed = [](std::span<const std::string_view> names) {
    Json list = Json::array();
    for (const std::string_view name : names) list.push_back(name);
    return list;
  };
  EXPECT_EQ(definitions["pipe"]["enum"], listed(pipe_names()));
  EXPECT_EQ(definitions["level"]["enum"], listed(level_names()));
  EXPECT_EQ(definitions["ceiling"]["properties"]["pattern"]["enum"], listed(pattern_names()));
  EXPECT_EQ(definitions["dtype"]["enum"], listed(dtype_names()));
  for (const std::string reason : definitions["time"]["properties"]["stop"]["enum"]) {
    EXPECT_TRUE(parse_stop_reason(reason)) << reason;
  }
}

/// Every key that is written is in the schema: its objects allow no others.
TEST(JsonSchema, HasEveryKeyOfARowAndOfACeiling) {
  std::ifstream file(std::string(ROOFLINE_SOURCE_DIR) + "/docs/schema/report.schema.json");
  const Json definitions = Json::parse(file)["$defs"];
  const Json report = sample_json();
  for (const Json& row : report["results"]) {
    for (const auto& [key, value] : row.items()) {
      EXPECT_TRUE(definitions["result"]["properties"].contains(key)) << key;
    }
  }
  for (const Json& ceiling : report["machine"]["ceilings"]) {
    for (const auto& [key, value] : ceiling.items()) {
      EXPECT_TRUE(definitions["ceiling"]["properties"].contains(key)) << key;
    }
  }
}

TEST(Json, ThePartsReadAloneAsWell) {
  for (const Point& point : sample_report().points) {
    EXPECT_EQ(outcome_to_json(outcome_from_json(outcome_to_json(point))), outcome_to_json(point));
  }
  const Machine machine = sample_machine();
  for (const Ceiling& ceiling : machine.ceilings) {
    EXPECT_EQ(ceiling_to_json(ceiling_from_json(ceiling_to_json(ceiling))), ceiling_to_json(ceiling));
  }
  for (const Sweep& sweep : machine.sweeps) {
    EXPECT_EQ(sweep_to_json(sweep_from_json(sweep_to_json(sweep))), sweep_to_json(sweep));
  }
  EXPECT_EQ(device_to_json(device_from_json(device_to_json(machine.device))), device_to_json(machine.device));
  EXPECT_THROW(outcome_from_json(Json::object()), UsageError);
}

TEST(Json, HasNoRawControlCharacters) {
  // CSI as one byte of Latin-1, DEL, a mark that turns the direction of writing; a minus sign and an ellipsis stay.
  const std::string name =
      "\xc2\x9b"
      "2J \x7f \xe2\x80\xae \xe2\x81\xa6 \xe2\x88\x92 \xe2\x80\xa6 \xc2\xb5";
  const std::string text = to_json_text(Json{{"name", name}});
  for (const char* const raw : {"\xc2\x9b", "\x7f", "\xe2\x80\xae", "\xe2\x81\xa6"}) {
    EXPECT_EQ(text.find(raw), std::string::npos);
  }
  EXPECT_NE(text.find("\xe2\x80\xa6"), std::string::npos);
  EXPECT_EQ(Json::parse(text)["name"], name);
}

}  // namespace
}  // namespace roofline
