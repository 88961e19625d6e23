// The table of formats: each row is told from the others, and renders what its name says.
#include "render/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/profile_report.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

std::string rendered(const Format& format, const Runs& runs) {
  if (const auto* text = std::get_if<Format::Text>(&format.render)) return (*text)(runs);
  const ChartOptions options;
  return std::get<Format::Drawn>(format.render)(runs, ChartDrawing(runs, options), options);
}

TEST(Formats, AreFoundByTheirNamesAndHaveFilesOfTheirOwn) {
  std::set<std::string_view> files;
  for (const Format& format : formats()) {
    EXPECT_EQ(find_format(format.name), &format);
    EXPECT_TRUE(files.insert(format.file).second) << format.file;
    EXPECT_TRUE(format.file.ends_with("." + std::string(format.name))) << "`-o FILE` knows a format by its ending";
  }
  EXPECT_EQ(find_format("gif"), nullptr);
  EXPECT_EQ(find_format(""), nullptr);
}

TEST(Formats, RenderWhatTheirNamesSay) {
  const std::map<std::string_view, std::string> beginnings = {{"json", "{\n  \"schema\""},
                                                              {"csv", "workload,"},
                                                              {"md", "# "},
                                                              {"svg", "<svg "},
                                                              {"png", "\x89PNG\r"},
                                                              {"pdf", "%PDF-"},
                                                              {"html", "<!DOCTYPE html>"},
                                                              {"trace", "{\"displayTimeUnit\""},
                                                              {"prometheus", "# HELP roofline_kernel_time_seconds"},
                                                              {"jsonl", "{\"suite\""},
                                                              {"stacks", "train.py 7;"},
                                                              {"speedscope", "{"}};
  for (const Format& format : formats()) {
    ASSERT_TRUE(beginnings.contains(format.name)) << "how does a file of " << format.name << " begin?";
    const bool of_program = format.name == "trace" || format.name == "stacks" || format.name == "speedscope";
    EXPECT_THAT(rendered(format, of_program ? example::sampled_profile_report() : example::sample_report()),
                testing::StartsWith(beginnings.at(format.name)));
  }
}

TEST(Formats, TellOfARunWithoutAnEnd) {
  Report report = example::sample_report();
  report.complete = false;
  report.rows_planned = static_cast<std::int64_t>(report.points.size()) + 3;
  const std::map<std::string_view, std::string> words = {{"json", "\"complete\": false"},
                                                         {"md", "run is incomplete"},
                                                         {"svg", "run is incomplete"},
                                                         {"html", "run is incomplete"},
                                                         {"prometheus", "\nroofline_run_complete{"},
                                                         {"jsonl", "\"complete\":false"}};
  for (const auto& [name, word] : words) {
    EXPECT_THAT(rendered(*find_format(name), report), testing::HasSubstr(word)) << name;
    if (name == "prometheus" || name == "json" || name == "jsonl") continue;
    EXPECT_THAT(rendered(*find_format(name), example::sample_report()), testing::Not(testing::HasSubstr(word))) << name;
  }
  EXPECT_THAT(rendered(*find_format("prometheus"), report), testing::ContainsRegex("roofline_run_rows_missing.*} 3\n"));
}

TEST(Formats, UsualOnesHoldAllRuns) {
  const std::vector<const Format*> one = usual_formats(1);
  std::vector<const Format*> two = usual_formats(2);
  EXPECT_THAT(one, testing::Contains(find_format("json")));
  EXPECT_THAT(one, testing::Not(testing::Contains(find_format("pdf"))));
  two.insert(two.begin(), find_format("json"));
  EXPECT_EQ(one, two) << "json holds one run";
}

}  // namespace
}  // namespace roofline
