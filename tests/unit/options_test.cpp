// argv → the variables of a command.
#include <gtest/gtest.h>

#include "cli/commands.hpp"
#include "cli/device_flags.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Formats = std::vector<const Format*>;

/// Parses with the program's own commands and runs nothing.
CommandTree parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "roofline");
  CommandTree tree = command_tree();
  parse_command_line(tree, static_cast<int>(arguments.size()), arguments.data());
  return tree;
}

std::string mistake(std::vector<const char*> arguments) {
  try {
    parse(std::move(arguments));
  } catch (const UsageError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}

/// What a command with these options sets: "roofline try ARGUMENTS".
template <class Flags>
Flags tried(std::vector<const char*> arguments, void (*add_options)(CommandEntry&, Flags&),
            void (*finish)(Flags&, GlobalOptions&)) {
  arguments.insert(arguments.begin(), {"roofline", "try"});
  CommandTree tree = command_tree();
  tree.commands = {CommandRow<Flags>{"try", "", add_options, nullptr, finish}};
  parse_command_line(tree, static_cast<int>(arguments.size()), arguments.data());
  return *static_cast<Flags*>(tree.commands.front().variables.get());
}

DeviceRequest device_of(std::vector<const char*> arguments) {
  return tried<DeviceRequest>(
      std::move(arguments), [](CommandEntry& command, DeviceRequest& flags) { flags.add_to(command); },
      [](DeviceRequest& flags, GlobalOptions&) { flags.finish(); });
}

struct ReportTrial {
  std::vector<std::string> files;
  ReportOutput output;
  bool json = false;
};

ReportTrial report_of(std::vector<const char*> arguments) {
  return tried<ReportTrial>(
      std::move(arguments),
      [](CommandEntry& command, ReportTrial& flags) {
        command.add("files", words("FILE", flags.files), "");
        command.add("--json", flag(flags.json), "");
        flags.output.add_to(command, "x");
      },
      [](ReportTrial& flags, GlobalOptions& global) {
        global.answer.json = flags.json;
        flags.output.finish(global, flags.files.size());
      });
}

struct Everything {
  bool quick = false, counts = true;
  int runs = 1;
  std::optional<double> window_s;
  double slowdown = 0.5;
  std::string name, mode;
  std::vector<std::string> fields, files, program;
};

Everything everything_of(std::vector<const char*> arguments) {
  return tried<Everything>(
      std::move(arguments),
      [](CommandEntry& command, Everything& flags) {
        command.add("--quick", flag(flags.quick), "");
        command.add("--no-counts", flag(flags.counts, false), "");
        command.add("--runs", number("COUNT", flags.runs, 1, 100), "");
        command.add("--window", seconds(flags.window_s), "");
        command.add("--slowdown", percentage(flags.slowdown), "");
        command.add("-n,--name", text("NAME", flags.name), "");
        OptionValue mode = one_of(flags.mode, {"plain", "full"});
        mode.value_optional = true;
        command.add("--mode", std::move(mode), "");
        command.add("--fields", list("FIELD", flags.fields), "");
        command.add("[files]", words("FILE", flags.files), "");
        command.rest_target = &flags.program;
      },
      nullptr);
}

TEST(Options, EveryKindOfValueInEveryForm) {
  const Everything none = everything_of({});
  EXPECT_FALSE(none.quick);
  EXPECT_TRUE(none.counts);
  EXPECT_EQ(none.runs, 1);
  EXPECT_FALSE(none.window_s);
  const Everything all = everything_of({"a", "--quick", "--no-counts", "--runs=7", "--window", "500ms", "--slowdown",
                                        "3%", "b", "-nx", "--fields", "x,y.z", "--fields=w", "--", "ls", "--quick"});
  EXPECT_TRUE(all.quick);
  EXPECT_FALSE(all.counts);
  EXPECT_EQ(all.runs, 7);
  EXPECT_DOUBLE_EQ(all.window_s.value(), 0.5);
  EXPECT_DOUBLE_EQ(all.slowdown, 0.03);
  EXPECT_EQ(all.name, "x");
  EXPECT_EQ(all.fields, (std::vector<std::string>{"x", "y.z", "w"}));
  EXPECT_EQ(all.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all.program, (std::vector<std::string>{"ls", "--quick"}));
  EXPECT_EQ(everything_of({"-n", "-"}).name, "-");
  EXPECT_EQ(everything_of({"--name", "--quick"}).name, "--quick");
}

TEST(Options, AnOptionalValueIsOnlyAWordOfItsOwn) {
  EXPECT_EQ(everything_of({"--mode"}).mode, "plain");
  EXPECT_EQ(everything_of({"--mode", "full"}).mode, "full");
  EXPECT_EQ(everything_of({"--mode=full"}).mode, "full");
  const Everything file = everything_of({"--mode", "file"});
  EXPECT_EQ(file.mode, "plain");
  EXPECT_EQ(file.files, std::vector<std::string>{"file"});
}

TEST(Options, ValuesThatAreNone) {
  for (const char* text : {"0", "101", "1.5", "1e1", "x", "", "nan"}) {
    EXPECT_THROW(everything_of({"--runs", text}), UsageError) << text;
  }
  for (const char* text : {"5x", "-1s", "s", "", "2d", "1e9s", "nan"}) {
    EXPECT_THROW(everything_of({"--window", text}), UsageError) << text;
  }
  for (const char* text : {"-1", "fast", "3%%", "%", "1e9", "nan", "inf"}) {
    EXPECT_THROW(everything_of({"--slowdown", text}), UsageError) << text;
  }
  EXPECT_DOUBLE_EQ(everything_of({"--slowdown", "3 %"}).slowdown, 0.03);
  EXPECT_DOUBLE_EQ(everything_of({"--slowdown", "0.5"}).slowdown, 0.005);
  EXPECT_DOUBLE_EQ(everything_of({"--slowdown", "0"}).slowdown, 0);
  EXPECT_THROW(everything_of({"--name"}), UsageError);
  EXPECT_THROW(everything_of({"--quick=yes"}), UsageError);
  EXPECT_THROW(everything_of({"--mode=fast"}), UsageError);
  EXPECT_THROW(everything_of({"--name", "a", "--name", "b"}), UsageError);
}

TEST(Options, OptionsOfTheProgramStandAnywhere) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"--color", "never", "analyze", "s.yaml"}, {"analyze", "s.yaml", "--color", "never"}}) {
    const CommandTree tree = parse(words);
    EXPECT_EQ(tree.global->color, ColorMode::never);
    EXPECT_EQ(tree.global->argv.front(), "roofline");
  }
  const CommandTree tree = parse({"report", "a.json", "--json", "--top", "3", "--fields", "label,bound"});
  EXPECT_TRUE(tree.global->answer.json);
  EXPECT_EQ(tree.global->answer.top, 3U);
  EXPECT_EQ(tree.global->answer.fields, (std::vector<std::string>{"label", "bound"}));
  EXPECT_EQ(parse({"fleet", "a", "--json", "--top", "2"}).global->answer.top, 2U);
}

TEST(Options, Devices) {
  const DeviceRequest gpu = device_of({"--device", "cuda:1"});
  EXPECT_EQ(gpu.kind, DeviceKind::cuda);
  EXPECT_EQ(gpu.index, 1);
  EXPECT_FALSE(device_of({}).kind);
  const DeviceRequest cpu = device_of({"--device=cpu", "--threads", "2"});
  EXPECT_EQ(cpu.kind, DeviceKind::cpu);
  EXPECT_EQ(cpu.threads, 2);
  EXPECT_TRUE(cpu.cpus.empty());
}

TEST(Options, CpusAreThoseOfACpu) {
  const DeviceRequest device = device_of({"--cpus", "0-2,5"});
  EXPECT_EQ(device.cpus, (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(device.kind, DeviceKind::cpu);
  EXPECT_EQ(device_of({"--cpus=3", "--device", "cpu"}).cpus, std::vector<int>{3});
  EXPECT_NE(mistake({"calibrate", "--cpus", "0-x"}).find("--cpus 0-x"), std::string::npos);
  EXPECT_NE(mistake({"calibrate", "--cpus="}), "no error");
  EXPECT_NE(mistake({"calibrate", "--cpus", "0", "--device", "cuda:1"}).find("--device cuda:1"), std::string::npos);
}

TEST(Options, JsonMeansJsonOnStdout) {
  const ReportOutput output = report_of({"a.json", "--json"}).output;
  EXPECT_TRUE(output.to_stdout());
  EXPECT_EQ(output.formats, Formats{find_format("json")});
  EXPECT_FALSE(report_of({"a.json", "--json", "-o", "x"}).output.to_stdout());
}

TEST(Options, ReportOfOneRunAndOfSeveral) {
  const ReportTrial one = report_of({"a.json"});
  EXPECT_EQ(one.files, std::vector<std::string>{"a.json"});
  EXPECT_EQ(one.output.chart.width, 1200);
  EXPECT_FALSE(one.output.plot);
  const ReportTrial two =
      report_of({"a.json", "b.json", "--size", "1600x900", "--scale", "1.5", "--theme", "dark", "--marks", "equal",
                 "--bytes", "network", "--title", "T", "--subtitle", "S", "--plot", "--format", "png,html"});
  EXPECT_EQ(two.files, (std::vector<std::string>{"a.json", "b.json"}));
  const ChartOptions& chart = two.output.chart;
  EXPECT_EQ(chart.width, 1600);
  EXPECT_EQ(chart.height, 900);
  EXPECT_EQ(chart.scale, 1.5);
  EXPECT_EQ(chart.theme, Theme::dark);
  EXPECT_EQ(chart.marks, MarkSize::equal);
  EXPECT_EQ(chart.of, Intensity::network);
  EXPECT_EQ(chart.title, "T");
  EXPECT_EQ(chart.subtitle, "S");
  EXPECT_TRUE(two.output.plot);
  EXPECT_EQ(two.output.formats, (Formats{find_format("png"), find_format("html")}));
}

TEST(Options, AFileNameSaysItsFormat) {
  for (const Format& format : formats()) {
    const std::string file = "x/chart." + std::string(format.name);
    const ReportOutput output = report_of({"a.json", "-o", file.c_str()}).output;
    EXPECT_TRUE(output.is_file) << file;
    EXPECT_EQ(output.formats, Formats{&format});
  }
  for (const char* folder : {"x", "x.y", "report.v2", "run-1.5", "train.h100", ".", "x/.svg", "x.gz/"}) {
    EXPECT_FALSE(report_of({"a.json", "-o", folder}).output.is_file) << folder;
  }
  for (const char* file : {"x.pptx", "x.jpg", "x/y.docx", "x.tar.gz", "x.mp4", "x.bz2", "x.md5"}) {
    EXPECT_THROW(report_of({"a.json", "-o", file}), UsageError) << file;
  }
  EXPECT_EQ(mistake({"report", "a.json", "-o", "x.svg", "--format", "svg,svg"}), "no error");
  EXPECT_NE(mistake({"report", "a.json", "-o", "x.svg", "--format", "png"}).find("-o x.svg"), std::string::npos);
}

/// Before anything is measured, and for -o as for --format.
TEST(Options, OnlyFormatsThatTheCommandCanWriteAreAcceptedAndListed) {
  EXPECT_EQ(mistake({"profile", "-o", "x.trace", "--", "p"}), "no error");
  EXPECT_EQ(mistake({"analyze", "s.yaml", "-o", "x.prometheus"}), "no error");
  EXPECT_EQ(mistake({"fleet", "f", "-o", "x.csv"}), "no error");
  for (const char* file : {"x.trace", "x.stacks", "x.speedscope", "x.jpg"}) {
    EXPECT_THAT(mistake({"analyze", "s.yaml", "-o", file}), mentions(file, "jsonl)")) << file;
    EXPECT_THAT(mistake({"analyze", "s.yaml", "-o", file}), Not(HasSubstr("html, trace"))) << file;
  }
  EXPECT_THAT(mistake({"analyze", "s.yaml", "--format", "trace"}), mentions("--format trace"));
  EXPECT_THAT(mistake({"fleet", "f", "-o", "x.png"}), mentions("x.png", "(supported: html, json, csv)"));
  EXPECT_THAT(mistake({"fleet", "f", "-o", "x.jpg"}), mentions("x.jpg", "(supported: html, json, csv)"));
  EXPECT_THAT(mistake({"fleet", "f", "--format", "svg"}), mentions("--format svg"));
  EXPECT_THAT(mistake({"report", "a.json", "b.json", "-o", "x.jpg"}), mentions("x.jpg", "(supported: csv, md,"));
}

TEST(Options, JsonHoldsOneRun) {
  EXPECT_NE(mistake({"report", "a.json", "b.json", "--format", "svg,json"}).find("json holds one run"),
            std::string::npos);
}

TEST(Options, SizesThatAreNone) {
  for (const char* size : {"0x0", "1600", "1e9x2", "319x240", "320x239", "7681x4320", "7680x4321", "-1600x900", "x",
                           "1600x", "x900", "1600x900x2", "1600 x 900", "99999999999x900", ""}) {
    EXPECT_THROW(report_of({"a.json", "--size", size}), UsageError) << size;
  }
  for (const char* size : {"320x240", "7680x4320"}) {
    EXPECT_EQ(mistake({"report", "a.json", "--scale", "1", "--size", size}), "no error");
  }
  EXPECT_NE(mistake({"report", "a.json", "--size", "7680x4320", "--scale", "4"}).find("--scale 2.0"),
            std::string::npos);
  EXPECT_NE(mistake({"report", "a.json", "--scale", "0"}).find("--scale"), std::string::npos);
  EXPECT_NE(mistake({"report", "a.json", "--scale", "nan"}), "no error");
  EXPECT_THAT(mistake({"analyze", "s.yaml", "--bytes", "all"}), mentions("memory", "network"));
  EXPECT_THAT(mistake({"analyze", "s.yaml", "--marks", "big"}), mentions("time", "equal"));
  EXPECT_THAT(mistake({"analyze", "s.yaml", "--theme", "drak"}), mentions("light", "dark"));
}

TEST(Options, ANodeIsAllGpusOrAList) {
  const auto device = [](const char* text) { return device_of({"--device", text}); };
  EXPECT_TRUE(device("all").all);
  EXPECT_TRUE(device("all").several());
  EXPECT_EQ(device("cuda:2,0").indices, (std::vector<int>{0, 2}));
  EXPECT_TRUE(device("cuda:2,0").several());
  EXPECT_FALSE(device("cuda:3").several());
  EXPECT_EQ(device("cuda:3").index, 3);
  for (const char* text : {"cuda:1,1", "cuda:1,", "cuda:,1", "cuda:0,-1", "cuda:0;1", "cpu:0,1", "all:1", "cuda:0,x",
                           "cpu:1", "cuda:-1", "gpu", ""}) {
    EXPECT_THROW(device(text), UsageError) << text;
  }
  EXPECT_NE(mistake({"analyze", "s.yaml", "--device", "all"}).find("--device cuda:0"), std::string::npos);
  EXPECT_NE(mistake({"calibrate", "--device", "all", "--cpus", "0"}).find("--cpus 0"), std::string::npos);
}

TEST(Options, DevicesToWatch) {
  const auto devices = [](const char* text) {
    return tried<MonitoredDevices>(
        {"--device", text}, [](CommandEntry& command, MonitoredDevices& flags) { flags.add_to(command); }, nullptr);
  };
  EXPECT_TRUE(devices("all").all());
  EXPECT_TRUE(devices("cuda").every_gpu);
  EXPECT_EQ(devices("cuda:0,2,cpu").gpus, (std::vector<int>{0, 2}));
  EXPECT_TRUE(devices("cuda:0,2,cpu").cpu);
  for (const char* text : {"", "0", "cpu,1", "cuda:", "cuda:-1", "gpu", "cuda:0,"}) {
    EXPECT_THROW(devices(text), UsageError) << text;
  }
}

TEST(Options, MistakesSayWhatToDo) {
  EXPECT_THAT(mistake({"calibrat"}), mentions("'calibrate'"));
  EXPECT_THAT(mistake({"analyze", "s.yaml", "--formt", "png"}), mentions("'--format'"));
  EXPECT_THAT(mistake({"analyze", "s.yaml", "--time", "5m"}), mentions("'--max-time'"));
  EXPECT_THAT(mistake({"profile", "--time", "5m", "--", "x"}), mentions("'--window'"));
  EXPECT_THAT(mistake({"profile", "--siz", "5m", "--", "x"}), mentions("'--size'"));
  EXPECT_THAT(mistake({"analyze"}), mentions("roofline analyze --help"));
  EXPECT_THAT(mistake({"calibrate", "--device", "cpu:1"}), mentions("cpu", "cuda:N"));
  EXPECT_THAT(mistake({"calibrate", "--device", "cuda:-1"}), mentions("cpu", "cuda:N"));
  EXPECT_THAT(mistake({"report", "x", "--format", "gif"}), mentions("--format gif", "svg"));
  EXPECT_THAT(mistake({"report", "x", "-o", "-", "--format", "png,svg"}), mentions("-o -"));
}

TEST(Options, HelpAndVersionComeBeforeMistakes) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"--help"},
                                                {"--version"},
                                                {"analyze", "-h"},
                                                {"new", "kernel", "--help"},
                                                {"report", "--help", "--bogus"}}) {
    EXPECT_EQ(mistake(words), "no error") << words.back();
  }
  EXPECT_NE(mistake({"compare", "a.json"}).find("roofline compare --help"), std::string::npos);
  EXPECT_NE(mistake({}).find("roofline --help"), std::string::npos);
  EXPECT_NE(mistake({"new"}).find("roofline new --help"), std::string::npos);
}

}  // namespace
}  // namespace roofline
