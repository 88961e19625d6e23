// argv → Options.
#include "cli/options.hpp"

#include <gtest/gtest.h>

namespace roofline {
namespace {

Options parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "roofline");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string mistake(std::vector<const char*> arguments) {
  try {
    parse(std::move(arguments));
  } catch (const UsageError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}

TEST(Options, Calibrate) {
  const Options options = parse({"calibrate", "--device", "cuda:1", "--quick", "--only", "hbm.*", "-o", "m.json"});
  const auto& command = std::get<CalibrateCommand>(options.command);
  EXPECT_EQ(command.device.kind, DeviceKind::cuda);
  EXPECT_EQ(command.device.index, 1);
  EXPECT_TRUE(command.quick);
  EXPECT_EQ(command.only, "hbm.*");
  EXPECT_EQ(command.output, "m.json");
  EXPECT_FALSE(std::get<CalibrateCommand>(parse({"calibrate"}).command).device.kind);
}

TEST(Options, Analyze) {
  const Options options = parse({"analyze", "s.yaml", "--device=cpu", "--threads", "2", "--format", "png,html",
                                 "--cache", "hot", "--color", "never"});
  const auto& command = std::get<AnalyzeCommand>(options.command);
  EXPECT_EQ(command.suite, "s.yaml");
  EXPECT_EQ(command.device.kind, DeviceKind::cpu);
  EXPECT_EQ(command.device.threads, 2);
  EXPECT_EQ(command.formats, (std::vector<std::string>{"png", "html"}));
  EXPECT_EQ(command.cache, "hot");
  EXPECT_EQ(options.color, ColorMode::never);
  EXPECT_EQ(options.argv.front(), "roofline");
}

TEST(Options, JsonMeansJsonOnStdout) {
  const Options options = parse({"analyze", "s.yaml", "--json"});
  const auto& command = std::get<AnalyzeCommand>(options.command);
  EXPECT_EQ(command.output, "-");
  EXPECT_EQ(command.formats, std::vector<std::string>{"json"});
}

TEST(Options, MistakesSayWhatToDo) {
  EXPECT_NE(mistake({"calibrat"}).find("did you mean 'calibrate'?"), std::string::npos);
  EXPECT_NE(mistake({"analyze", "s.yaml", "--formt", "png"}).find("did you mean '--format'?"), std::string::npos);
  EXPECT_NE(mistake({"analyze"}).find("roofline analyze --help"), std::string::npos);
  EXPECT_NE(mistake({"calibrate", "--device", "cpu:1"}).find("expected cpu, cuda or cuda:N"), std::string::npos);
  EXPECT_NE(mistake({"calibrate", "--device", "cuda:-1"}).find("expected cpu, cuda or cuda:N"), std::string::npos);
  EXPECT_NE(mistake({"report", "x", "--format", "gif"}).find("unknown format 'gif'"), std::string::npos);
  EXPECT_NE(mistake({"report", "x", "-o", "-", "--format", "png,svg"}).find("exactly one"), std::string::npos);
}

TEST(Options, HelpIsText) {
  EXPECT_NE(std::get<PrintCommand>(parse({"--help"}).command).text.find("calibrate"), std::string::npos);
  EXPECT_NE(std::get<PrintCommand>(parse({"analyze", "--help"}).command).text.find("--max-time"), std::string::npos);
}

}  // namespace
}  // namespace roofline
