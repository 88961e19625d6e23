// argv → Options.
#include "cli/options.hpp"

#include <gtest/gtest.h>

namespace roofline {
namespace {

using Formats = std::vector<const Format*>;

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
  EXPECT_TRUE(command.device.cpus.empty());
  EXPECT_EQ(command.output.formats, (Formats{find_format("png"), find_format("html")}));
  EXPECT_EQ(command.cache, "hot");
  EXPECT_EQ(options.color, ColorMode::never);
  EXPECT_EQ(options.argv.front(), "roofline");
}

TEST(Options, CpusAreThoseOfACpu) {
  const auto command = std::get<CalibrateCommand>(parse({"calibrate", "--cpus", "0-2,5"}).command);
  EXPECT_EQ(command.device.cpus, (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(command.device.kind, DeviceKind::cpu);
  EXPECT_EQ(std::get<MachineCommand>(parse({"machine", "--cpus=3"}).command).device.cpus, std::vector<int>{3});
  EXPECT_EQ(std::get<AnalyzeCommand>(parse({"analyze", "s.yaml", "--cpus=3", "--device", "cpu"}).command).device.cpus,
            std::vector<int>{3});
  EXPECT_EQ(mistake({"calibrate", "--cpus", "0-x"}),
            "--cpus 0-x: expected numbers of logical CPUs and ranges of them, separated by commas | "
            "for example: --cpus 0-3,8");
  EXPECT_NE(mistake({"calibrate", "--cpus="}), "no error");
  EXPECT_EQ(mistake({"calibrate", "--cpus", "0", "--device", "cuda:1"}),
            "--cpus 0: is for the CPU, and --device cuda:1 is a GPU | leave one of them out");
}

TEST(Options, JsonMeansJsonOnStdout) {
  const Options options = parse({"analyze", "s.yaml", "--json"});
  const auto& command = std::get<AnalyzeCommand>(options.command);
  EXPECT_TRUE(command.output.to_stdout());
  EXPECT_EQ(command.output.formats, Formats{find_format("json")});
}

TEST(Options, ReportOfOneRunAndOfSeveral) {
  const auto one = std::get<ReportCommand>(parse({"report", "a.json"}).command);
  EXPECT_EQ(one.files, std::vector<std::string>{"a.json"});
  EXPECT_EQ(one.chart.width, 1200);
  EXPECT_FALSE(one.plot);
  const auto two = std::get<ReportCommand>(
      parse({"report", "a.json", "b.json", "--size", "1600x900", "--scale", "1.5", "--theme", "dark", "--marks",
             "equal", "--bytes", "network", "--title", "T", "--subtitle", "S", "--plot"})
          .command);
  EXPECT_EQ(two.files, (std::vector<std::string>{"a.json", "b.json"}));
  EXPECT_EQ(two.chart.width, 1600);
  EXPECT_EQ(two.chart.height, 900);
  EXPECT_EQ(two.chart.scale, 1.5);
  EXPECT_EQ(two.chart.theme, Theme::dark);
  EXPECT_EQ(two.chart.marks, MarkSize::equal);
  EXPECT_EQ(two.chart.of, Intensity::network);
  EXPECT_EQ(two.chart.title, "T");
  EXPECT_EQ(two.chart.subtitle, "S");
  EXPECT_TRUE(two.plot);
}

TEST(Options, AFileNameSaysItsFormat) {
  for (const Format& format : formats()) {
    const std::string file = "x/chart." + std::string(format.name);
    const auto command = std::get<ReportCommand>(parse({"report", "a.json", "-o", file.c_str()}).command);
    EXPECT_TRUE(command.output.is_file) << file;
    EXPECT_EQ(command.output.formats, Formats{&format});
  }
  for (const char* folder : {"x", "x.y", "report.v2", ".", "x/.svg"}) {
    EXPECT_FALSE(std::get<ReportCommand>(parse({"report", "a.json", "-o", folder}).command).output.is_file) << folder;
  }
  EXPECT_EQ(mistake({"report", "a.json", "-o", "x.svg", "--format", "svg,svg"}), "no error");
  EXPECT_EQ(mistake({"report", "a.json", "-o", "x.svg", "--format", "png"}),
            "-o x.svg: is one svg file, and --format asks for png | leave out --format, or name a folder with -o");
}

TEST(Options, JsonHoldsOneRun) {
  EXPECT_EQ(
      mistake({"report", "a.json", "b.json", "--format", "svg,json"}),
      "json holds one run, and several files are given | give one file, or compare two: roofline compare BASE NEW "
      "--format json");
}

TEST(Options, SizesThatAreNone) {
  for (const char* size : {"0x0", "1600", "1e9x2", "319x240", "320x239", "7681x4320", "7680x4321", "-1600x900", "x",
                           "1600x", "x900", "1600x900x2", "1600 x 900", "99999999999x900", ""}) {
    const std::string text = mistake({"report", "a.json", "--size", size});
    if (*size == '\0') continue;  // CLI11 takes an empty argument for none
    EXPECT_EQ(text, "--size " + std::string(size) +
                        ": expected WIDTHxHEIGHT in pixels, from 320x240 to 7680x4320 | for example: --size 1600x900");
  }
  for (const char* size : {"320x240", "7680x4320"}) {
    EXPECT_EQ(mistake({"report", "a.json", "--scale", "1", "--size", size}), "no error");
  }
  EXPECT_EQ(mistake({"report", "a.json", "--size", "7680x4320", "--scale", "4"}),
            "--scale 4: 7680x4320 at that scale has 531 million pixels | --scale 2.0 is the most at this size");
  EXPECT_NE(mistake({"report", "a.json", "--scale", "0"}).find("--scale"), std::string::npos);
  EXPECT_NE(mistake({"report", "a.json", "--scale", "nan"}), "no error");
  EXPECT_NE(mistake({"analyze", "s.yaml", "--bytes", "all"}).find("expected memory or network"), std::string::npos);
  EXPECT_NE(mistake({"analyze", "s.yaml", "--marks", "big"}).find("expected time or equal"), std::string::npos);
  EXPECT_NE(mistake({"analyze", "s.yaml", "--theme", "drak"}).find("expected light or dark"), std::string::npos);
}

TEST(Options, Compare) {
  const auto slowdown = [](const char* text) {
    return std::get<CompareCommand>(parse({"compare", "a.json", "b.json", "--max-slowdown", text}).command)
        .max_slowdown;
  };
  EXPECT_DOUBLE_EQ(slowdown("3%"), 0.03);
  EXPECT_DOUBLE_EQ(slowdown("3 %"), 0.03);
  EXPECT_DOUBLE_EQ(slowdown("3"), 0.03);
  EXPECT_DOUBLE_EQ(slowdown("0.5%"), 0.005);
  EXPECT_DOUBLE_EQ(slowdown("0"), 0);
  for (const char* text : {"-1", "fast", "3%%", "%", "1e9", "nan", "inf"}) {
    EXPECT_NE(mistake({"compare", "a.json", "b.json", "--max-slowdown", text}).find("--max-slowdown"),
              std::string::npos)
        << text;
  }
  const auto command = std::get<CompareCommand>(parse({"compare", "a.json", "b.json"}).command);
  EXPECT_EQ(command.base, "a.json");
  EXPECT_EQ(command.now, "b.json");
  EXPECT_DOUBLE_EQ(command.max_slowdown, 0.03);
  EXPECT_NE(mistake({"compare", "a.json"}).find("roofline compare --help"), std::string::npos);
}

TEST(Options, ANodeIsAllGpusOrAList) {
  const auto device = [](const char* text) {
    return std::get<CalibrateCommand>(parse({"calibrate", "--device", text}).command).device;
  };
  EXPECT_TRUE(device("all").all);
  EXPECT_TRUE(device("all").several());
  EXPECT_EQ(device("cuda:2,0").indices, (std::vector<int>{0, 2}));
  EXPECT_TRUE(device("cuda:2,0").several());
  EXPECT_FALSE(device("cuda:3").several());
  EXPECT_EQ(device("cuda:3").index, 3);
  for (const char* text : {"cuda:1,1", "cuda:1,", "cuda:,1", "cuda:0,-1", "cuda:0;1", "cpu:0,1", "all:1", "cuda:0,x"}) {
    EXPECT_NE(mistake({"calibrate", "--device", text}).find("cuda:N,M or all"), std::string::npos) << text;
  }
  EXPECT_NE(mistake({"analyze", "s.yaml", "--device", "all"}).find("analyze works on one device"), std::string::npos);
  EXPECT_NE(mistake({"calibrate", "--device", "all", "--cpus", "0"}).find("--cpus 0: is for the CPU"),
            std::string::npos);
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
