// report.json from anywhere: every key removed, retyped or set to an absurd number, and every text made hostile. What
// is read must be drawn by every renderer, and what is not must be refused with the file and the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "host/files.hpp"
#include "json_sample.hpp"
#include "model/error.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kFile = "run.json";

/// Every place of a document, the root apart.
std::vector<Json::json_pointer> places_in(const Json& json) {
  std::vector<Json::json_pointer> places;
  const std::function<void(const Json&, const Json::json_pointer&)> walk = [&](const Json& value,
                                                                               const Json::json_pointer& at) {
    if (!at.empty()) places.push_back(at);
    if (value.is_object()) {
      for (const auto& [key, member] : value.items()) walk(member, at / key);
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) walk(value[i], at / i);
    }
  };
  walk(json, Json::json_pointer());
  return places;
}

void erase(Json& json, const Json::json_pointer& at) {
  Json& parent = json.at(at.parent_pointer());
  if (parent.is_object()) {
    parent.erase(at.back());
  } else {
    parent.erase(static_cast<std::size_t>(std::stoul(at.back())));
  }
}

/// Everything that a report is turned into; `pictures` too.
std::vector<std::string> outputs(const Report& report, bool pictures) {
  std::vector<std::string> texts = {render_csv(report),
                                    render_markdown(report),
                                    render_terminal(report, {}),
                                    render_terminal_plot(report, {}),
                                    render_json(report),
                                    render_comparison_terminal(comparison_of(report, report), {}),
                                    render_comparison_json(comparison_of(report, report))};
  if (pictures) {
    texts.push_back(render_svg(report));
    texts.push_back(render_html(report));
  }
  return texts;
}

/// Reads and draws; an error must name the file and lie where the document was changed. Whether it was read.
bool read_and_draw(const Json& json, const Json::json_pointer& at) {
  const std::string path = at.to_string();
  const std::string top = path.empty() ? path : path.substr(1, path.find('/', 1) - 1);
  try {
    const Report report = parse_report(json.dump(), kFile);
    for (const std::string& text : outputs(report, true)) EXPECT_FALSE(text.empty()) << path;
    return true;
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), StartsWith(std::string(kFile) + ": " + top)) << path;
    return false;
  } catch (const std::exception& error) {
    ADD_FAILURE() << path << " = " << json.at(at).dump() << ": " << error.what();
    return false;
  }
}

TEST(HostileReport, AnyKeyMayBeMissing) {
  const Json whole = report_to_json(sample_report());
  int refused = 0;
  for (const Json::json_pointer& at : places_in(whole)) {
    Json json = whole;
    erase(json, at);
    if (!read_and_draw(json, at)) ++refused;
  }
  EXPECT_GT(refused, 100);
}

TEST(HostileReport, AnyValueMayBeOfAnotherType) {
  const Json whole = report_to_json(sample_report());
  const std::vector<Json> values = {nullptr, true, "text", 1.5, Json::array(), Json::object(), {{"a", 1}}, {1, 2, 3}};
  int refused = 0;
  for (const Json::json_pointer& at : places_in(whole)) {
    for (const Json& value : values) {
      if (value.type() == whole.at(at).type()) continue;
      Json json = whole;
      json.at(at) = value;
      if (!read_and_draw(json, at)) ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(HostileReport, AnyNumberMayBeAbsurd) {
  const Json whole = report_to_json(sample_report());
  const std::vector<Json> values = {0,
                                    -1,
                                    -1e308,
                                    1e308,
                                    5e-324,
                                    std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::uint64_t>::max()};
  for (const Json::json_pointer& at : places_in(whole)) {
    if (!whole.at(at).is_number()) continue;
    for (const Json& value : values) {
      Json json = whole;
      json.at(at) = value;
      read_and_draw(json, at);
    }
  }
}

TEST(HostileReport, AllNumbersAtOnce) {
  for (const double value : {0.0, -1.0, 1e308, 5e-324}) {
    Json json = report_to_json(sample_report());
    for (const Json::json_pointer& at : places_in(json)) {
      if (json.at(at).is_number_float()) json.at(at) = value;
    }
    read_and_draw(json, Json::json_pointer());
  }
}

void expect_without(const std::string& output, const std::string& text) {
  const std::size_t at = output.find(text);
  EXPECT_EQ(at, std::string::npos) << "..." << output.substr(at - std::min<std::size_t>(at, 200), 400) << "...";
}

TEST(HostileReport, TextsAreShownAndNeverObeyed) {
  const std::vector<std::string> texts = {"</script><script>alert(1)</script>",
                                          "\" onload=\"alert(1)",
                                          "'><img src=x onerror=alert(1)>",
                                          "\u202Egnp.exe\u202C",
                                          std::string(10000, 'n'),
                                          std::string("a\0b", 3),
                                          "\x1b[2J\x1b]0;owned\x07",
                                          "]]><x>",
                                          "=cmd|' /C calc'!A0",
                                          "<!--",
                                          "{{7*7}} ${7*7}",
                                          ""};
  const Json whole = report_to_json(sample_report());
  const std::vector<std::string> names = {"label",  "family", "impl", "impl_summary", "reason", "failure", "detail",
                                          "origin", "basis",  "host", "variant",      "suite",  "name",    "driver"};
  for (const std::string& text : texts) {
    Json json = whole;
    for (const Json::json_pointer& at : places_in(whole)) {
      if (std::find(names.begin(), names.end(), at.back()) != names.end() && whole.at(at).is_string())
        json.at(at) = text;
    }
    json["notes"] = {text};
    json["invocation"]["command"] = {text};
    json["invocation"]["suite_text"] = text;
    const Report report = parse_report(json.dump(), kFile);
    for (const std::string& output : outputs(report, true)) {
      if (output.front() == '{') continue;  // JSON is not shown to anyone
      expect_without(output, "\x1b[2J");
      if (output.find("<svg") == std::string::npos) continue;
      expect_without(output, "<script>alert");
      expect_without(output, "<img");
      expect_without(output, "\" onload");
      expect_without(output, "<x>");
      if (output.starts_with("<svg")) expect_without(output, "\u202E");  // a page isolates each text by its element
    }
  }
}

std::string report_complaint(const std::string& text) {
  try {
    parse_report(text, kFile);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(read without complaint)";
}

TEST(HostileReport, WhatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_THAT(report_complaint(""), mentions("run.json:1:1: "));
  EXPECT_THAT(report_complaint("\xEF\xBB\xBF"), HasSubstr("not valid JSON"));
  EXPECT_THAT(report_complaint(std::string("\0\0", 2)), mentions("run.json:1:1: "));
  EXPECT_THAT(report_complaint("{\n\"a\": Infinity}"), mentions("run.json:2:6: "));
  EXPECT_THAT(report_complaint("{\"schema\": \"\xff\"}"), mentions("run.json:1:13: "));
  EXPECT_THAT(report_complaint("{\"schema\": 1e999}"), HasSubstr("1e999"));
  EXPECT_THAT(report_complaint("{\"schema\": \"\\u001b[2J\"}"), HasSubstr("found '\uFFFD[2J'"));
  EXPECT_LT(report_complaint("{\"schema\": \"" + std::string(10000, 'x') + "\"}").size(), 400U);
  EXPECT_THAT(report_complaint(std::string(1000000, '[')), HasSubstr("not valid JSON"));
  EXPECT_THAT(report_complaint(std::string(1000000, '[') + std::string(1000000, ']')), mentions("run.json: "));
  EXPECT_THAT(report_complaint(R"({"schema": "roofline.report/2"})"), mentions("'roofline.report/1'"));
  EXPECT_THAT(report_complaint(R"({"schema": "roofline.machine/1"})"), mentions("run.json: "));
  const std::string whole = render_json(sample_report());
  for (std::size_t length = 0; length + 2 < whole.size(); length += 97) {
    EXPECT_THAT(report_complaint(whole.substr(0, length)), StartsWith("run.json:")) << length;
  }
}

TEST(HostileReport, ManyRowsAndManySamples) {
  Report report = sample_report();
  report.points.assign(2000, report.points.front());
  for (Point& point : report.points) point.raw_samples.clear();
  report.points.front().raw_samples.assign(200000, 1e-3);
  const Report read = parse_report(render_json(report), kFile);
  EXPECT_EQ(read.points.size(), 2000U);
  EXPECT_EQ(read.points.front().raw_samples.size(), 200000U);
  for (const std::string& text : outputs(read, true)) EXPECT_FALSE(text.empty());
}

TEST(Reports, EveryOneInTheRepositoryIsReadAndDrawn) {
  int found = 0;
  const std::filesystem::path folder = std::filesystem::path(ROOFLINE_SOURCE_DIR) / "reports";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "report.json") continue;
    ++found;
    const Report report = parse_report(read_file(entry.path()), entry.path().string());
    EXPECT_FALSE(report.points.empty()) << entry.path();
    for (const std::string& text : outputs(report, true)) EXPECT_FALSE(text.empty()) << entry.path();
  }
  EXPECT_GT(found, 0);
}

TEST(Files, APathThatTheSystemRefusesIsAMistakeOfTheUser) {
  EXPECT_THROW(read_file(std::string(10000, 'x')), UsageError);
  EXPECT_THROW(read_file("nowhere/at/all.json"), UsageError);
  EXPECT_THROW(read_file("/"), UsageError);
}

}  // namespace
}  // namespace roofline
