// The one file that knows CLI11, which is slow to compile and has its own exit codes and no "did you mean".
#include "cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command_tree.hpp"
#include "cli/option_values.hpp"

namespace roofline {
namespace {

constexpr const char* kExamples = R"(
Examples:
  roofline calibrate                      measure this machine's roofs
  roofline analyze configs/ops.yaml       time the standard suite under them
  roofline analyze configs/ops.yaml --device cpu --only 'gemm*'
  roofline profile -- python train.py     where a program's GPU time goes, under the roofs
  roofline import trace.json.gz           a profile of torch.profiler, ncu, nsys or Proton, under the roofs
  roofline machine --against last-month.json   name what got slower (exit code 3)
  roofline fleet shared/fleet/            which of many machines falls behind, and why (exit code 3)
  roofline monitor                        the GPUs at work, live, against their roofs
  roofline report reports/ops-cpu/report.json -o slide.png --size 1600x900 --theme dark
  roofline report before.json after.json -o comparison      lay two runs over each other
  roofline compare before.json after.json --max-slowdown 3%   exit code 3 when a kernel got slower

Exit codes: 0 all good, 1 a workload failed, 2 usage or configuration error,
3 a regression or an outlier was found, 4 the device can't be used, 130 interrupted.)";

/// The values that flags are bound to while CLI11 parses.
struct Flags {
  std::string device, color = "auto", cache, counters;
  std::optional<std::string> cpus;
  std::string output, size, theme = "light", marks = "time", bytes = "memory", max_slowdown;
  std::vector<std::string> formats;
  ChartOptions chart;
  bool plot = false;
  int threads = 0;
  double threshold = 1;
  AnswerRequest answer;
  bool schema = false;
  HelpCommand help;
  CompletionCommand completion;
  CalibrateCommand calibrate;
  AnalyzeCommand analyze;
  ReportCommand report;
  CompareCommand compare;
  MachineCommand machine;
  ProfileCommand profile;
  ImportCommand import;
  FleetCommand fleet;
  MonitorCommand monitor;
  std::string interval, monitor_format = "table";
  NewCommand begin;
  std::string warmup, window, count_time;
  bool no_counters = false, no_python = false;
};

void add_device_flags(CLI::App& app, Flags& flags) {
  app.add_option("--device", flags.device,
                 "cpu, cuda or cuda:N (default: the first GPU that works, else the CPU); calibrate and machine: also "
                 "all, cuda:0,2")
      ->type_name("DEVICE");
  app.add_option("--threads", flags.threads, "CPU worker threads (default: all cores, or all performance cores)")
      ->check(CLI::Range(1, 4096))
      ->type_name("COUNT");
  app.add_option("--cpus", flags.cpus, "Logical CPUs to pin the threads to, such as 0-3,8 (means --device cpu)")
      ->type_name("CPUS");
}

/// Where a report goes, and how its chart is drawn.
void add_report_flags(CLI::App& app, Flags& flags, const std::string& folder) {
  std::vector<std::string_view> unusual;
  for (const Format& format : formats()) {
    if (!format.usual) unusual.push_back(format.name);
  }
  app.add_option("-o,--output", flags.output,
                 fmt::format("Folder (default: {}), one file such as chart.svg, or '-' for stdout", folder))
      ->type_name("PATH");
  app.add_option("--format", flags.formats,
                 fmt::format("Formats, comma-separated: {} (default: all but {})", fmt::join(format_names(), ", "),
                             fmt::join(unusual, ", ")))
      ->delimiter(',')
      ->type_name("FORMAT");
  app.add_option("--size", flags.size, "Chart size in pixels, such as 1600x900 (default: 1200x760)")->type_name("WxH");
  app.add_option("--scale", flags.chart.scale, "PNG pixels for each pixel of --size (default: 2)")
      ->check(CLI::Range(0.25, 8.0))
      ->type_name("FACTOR");
  app.add_option("--theme", flags.theme, "Chart colours (default: light)")->type_name("{light,dark}");
  app.add_option("--marks", flags.marks, "Size of the chart's marks: their time as area, or equal (default: time)")
      ->type_name("{time,equal}");
  app.add_option(
         "--bytes", flags.bytes,
         "Whose bytes the chart holds FLOPs against: main memory's, or those over the network (default: memory)")
      ->type_name("{memory,network}");
  app.add_option("--title", flags.chart.title, "Title of the chart (default: the device)")->type_name("TEXT");
  app.add_option("--subtitle", flags.chart.subtitle, "Line below the title (default: roofs, kernels, date)")
      ->type_name("TEXT");
  app.add_flag("--plot", flags.plot, "Draw the chart in the terminal too");
}

/// What every command has for programs (`roofline help json`).
void add_answer_flags(CLI::App& app, Flags& flags) {
  const std::string group = "For programs";
  app.add_flag("--json", flags.answer.json, "One JSON document on stdout: result, warnings, errors")->group(group);
  if (app.get_option_no_throw("--top") == nullptr) {
    app.add_option("--top", flags.answer.top, "With --json: so many rows, those that matter most first")
        ->check(CLI::Range(1, 1000000))
        ->type_name("COUNT")
        ->group(group);
  }
  app.add_option("--fields", flags.answer.fields, "With --json: these fields of each row, such as time_s.median,bound")
      ->delimiter(',')
      ->type_name("FIELD")
      ->group(group);
}

void add_commands(CLI::App& app, Flags& flags) {
  CLI::App* calibrate = app.add_subcommand("calibrate", "Measure the machine's roofs and keep them");
  add_device_flags(*calibrate, flags);
  calibrate->add_flag("--quick", flags.calibrate.quick, "Fewer variants and shorter sampling");
  calibrate->add_option("--only", flags.calibrate.only, "Only ceilings and sweeps whose name matches this glob")
      ->type_name("GLOB");
  calibrate
      ->add_option(
          "--time", flags.calibrate.time_s,
          "Seconds that a CPU's calibration may take (default: 60, less for a part of it); it ends early where "
          "the machine is quiet")
      ->check(CLI::Range(0.1, 86400.0))
      ->type_name("SECONDS");
  calibrate
      ->add_option("--sustain", flags.calibrate.sustain_s,
                   "Seconds under load for each sustained ceiling, half of them sampled (default: 2; 0: none)")
      ->check(CLI::Range(0.0, 3600.0))
      ->type_name("SECONDS");
  calibrate->add_flag("--once", flags.calibrate.once,
                      "Measure nothing: run every probe once, verified, for a profiler (ncu --profile-from-start off)");
  calibrate->add_flag("--no-wait", flags.calibrate.no_wait,
                      "Begin at once, beside another calibration of the same device: both come out lower");
  calibrate->add_flag("--verbose", flags.calibrate.verbose, "Say what every failed check of the audit found");
  calibrate
      ->add_option("-o,--output", flags.calibrate.output,
                   "Also write the machine to this file, or to HOST-GPU.json in this folder, of several GPUs "
                   "HOST-node.json ('-': "
                   "stdout)")
      ->type_name("PATH");

  CLI::App* analyze = app.add_subcommand("analyze", "Time a suite of workloads and place them under the roofs");
  analyze
      ->add_option("suite", flags.analyze.suite,
                   "Suite file, or the name of one that came with roofline: ops, quick, ladder, sweep, llm")
      ->required()
      ->type_name("SUITE");
  add_device_flags(*analyze, flags);
  analyze
      ->add_option("--machine", flags.analyze.machine,
                   "Machine file, or a node's (default: the one kept for this device)")
      ->type_name("FILE");
  analyze->add_option("--only", flags.analyze.only, "Only workloads whose op or label matches this glob")
      ->type_name("OP");
  add_report_flags(*analyze, flags, "reports/<suite>-<device>");
  analyze
      ->add_option(
          "--max-time", flags.analyze.max_time_s,
          "Seconds of sampling for each workload, up to three times that for its first ten samples (default: 3)")
      ->check(CLI::Range(0.01, 3600.0))
      ->type_name("SECONDS");
  analyze
      ->add_option("--row-limit", flags.analyze.row_limit_s,
                   "Seconds after which a workload that hangs is ended and fails (default: 600, and ten times "
                   "--max-time; 0: never)")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("SECONDS");
  analyze->add_option("--cache", flags.cache, "cold or hot, instead of what the suite says")
      ->check(CLI::IsMember({"cold", "hot"}));
  analyze->add_flag("--raw", flags.analyze.raw, "Keep every sample in report.json");
  analyze
      ->add_flag("--counters{standard}", flags.counters,
                 "Read hardware counters after the timing; '--counters full' adds stall reasons")
      ->type_name("{standard,full}");
  analyze->add_flag("--once", flags.analyze.once,
                    "Time nothing: run every workload once, for a profiler (ncu --profile-from-start off)");
  analyze->add_option("--save", flags.analyze.save, "Keep this run by a name, for --against")->type_name("NAME");
  analyze
      ->add_option("--against", flags.analyze.against,
                   "Compare with the run kept by that name; exit 3 if a kernel got slower")
      ->type_name("NAME");
  analyze
      ->add_option("--max-slowdown", flags.max_slowdown,
                   "How much slower than --against a kernel may get (default: 3%)")
      ->type_name("PERCENT");

  CLI::App* profile = app.add_subcommand(
      "profile", "Run any program and place its kernels under the roofs: roofline profile [options] -- program [args]");
  add_device_flags(*profile, flags);
  profile->add_option("--machine", flags.profile.machine, "Machine file (default: the one kept for this device)")
      ->type_name("FILE");
  profile->add_option("--warmup", flags.warmup, "Record only from so long after the first launch on, such as 10s")
      ->type_name("DURATION");
  profile->add_option("--window", flags.window, "Record for so long, such as 5s or 500ms; then end the program")
      ->type_name("DURATION");
  profile->add_flag("--no-counters", flags.no_counters, "Trace only: no FLOPs, no bytes");
  profile->add_option("--count-time", flags.count_time, "What counting may add to the program's time (default: 30s)")
      ->type_name("DURATION");
  profile->add_option("--runs", flags.profile.runs, "Run the program so often, for kinds of launches that are too few")
      ->check(CLI::Range(1, 100))
      ->type_name("COUNT");
  profile->add_flag("--baseline", flags.profile.baseline, "Run the program without us first, and say what we cost it");
  profile->add_flag("--no-python", flags.no_python, "Leave Python alone: no lines, no modules");
  profile->add_option("--keep", flags.profile.keep, "Keep what was recorded in this folder")->type_name("FOLDER");
  profile->add_option("--from", flags.profile.from, "Run nothing: report on what --keep has kept")->type_name("FOLDER");
  add_report_flags(*profile, flags, "reports/<program>-<device>");

  CLI::App* import = app.add_subcommand(
      "import", "Place kernels under the roofs that ncu, nsys, torch.profiler or Triton Proton has recorded");
  import
      ->add_option(
          "files", flags.import.files,
          "ncu: .ncu-rep, .ncu-repz, CSV of --page raw; nsys: export --type sqlite; torch.profiler and Proton: "
          "JSON, .json.gz. Several of one program are joined")
      ->required()
      ->type_name("FILE");
  import->add_option("--machine", flags.import.machine, "Machine file (default: the one kept of such a GPU)")
      ->type_name("FILE");
  add_report_flags(*import, flags, "reports/<file>");

  CLI::App* report = app.add_subcommand("report", "Draw a saved run again, or several over each other");
  report
      ->add_option("files", flags.report.files,
                   "report.json of a run, or a node.json; of several, the first is the base")
      ->required()
      ->type_name("FILE");
  add_report_flags(*report, flags, "that of the file; reports/comparison for several");

  CLI::App* compare = app.add_subcommand("compare", "What changed between two runs; exit 3 if a kernel got slower");
  compare->add_option("base", flags.compare.base, "report.json of the earlier run")->required()->type_name("FILE");
  compare->add_option("new", flags.compare.now, "report.json of the later run")->required()->type_name("FILE");
  compare
      ->add_option("--max-slowdown", flags.max_slowdown,
                   "How much slower a kernel may get before it is a regression (default: 3%)")
      ->type_name("PERCENT");
  compare->add_option("--format", flags.compare.format, "table, md, json or csv")
      ->check(CLI::IsMember({"table", "md", "json", "csv"}));

  CLI::App* begin =
      app.add_subcommand("new", "Write a first file: roofline new kernel FILE, a suite from its signatures");
  begin->require_subcommand(1);
  CLI::App* kernel = begin->add_subcommand("kernel", "A suite for the kernels of a .cu, .c or .cpp file");
  kernel->add_option("source", flags.begin.source, "The file")->required()->type_name("FILE");
  kernel->add_option("-o,--output", flags.begin.output, "The suite's file ('-': stdout; default: beside the source)")
      ->type_name("FILE");

  app.add_subcommand("devices", "List the devices, and why one can't be used");
  CLI::App* ops = app.add_subcommand("ops", "List the ops: shapes, types, implementations");
  ops->add_flag("--schema", flags.schema, "The JSON Schema of suites, for editors, with these ops");
  CLI::App* machine = app.add_subcommand("machine", "Show the roofs that were measured");
  add_device_flags(*machine, flags);
  machine->add_option("file", flags.machine.file, "A machine.json, node.json or report.json (default: the one kept)")
      ->type_name("FILE");
  machine->add_option("--format", flags.machine.format, "table, md or json")
      ->check(CLI::IsMember({"table", "md", "json"}));
  machine->add_flag("--verbose", flags.machine.verbose, "Say what every failed check of the audit found");
  machine
      ->add_option("--against", flags.machine.against,
                   "An earlier calibration, or another machine's: show what differs, exit 3 if something got slower")
      ->type_name("FILE");
  machine->add_option("--threshold", flags.threshold, "The least difference that counts, in per cent (default: 1)")
      ->check(CLI::Range(0.0, 1000.0))
      ->type_name("PERCENT");

  CLI::App* fleet =
      app.add_subcommand("fleet", "Which of many machines falls behind those like it; exit 3 if one does");
  fleet->add_option("paths", flags.fleet.paths, "Machine files, and folders of them (see calibrate -o FOLDER/)")
      ->required()
      ->type_name("PATH");
  fleet
      ->add_option("-o,--output", flags.output,
                   "Folder (default: reports/fleet), one file such as fleet.csv, or '-' for stdout")
      ->type_name("PATH");
  fleet->add_option("--format", flags.formats, "Formats, comma-separated: html, json, csv (default: html, json)")
      ->delimiter(',')
      ->type_name("FORMAT");
  fleet->add_option("--top", flags.answer.top, "So many outliers, changes and files are listed (default: 20)")
      ->check(CLI::Range(1, 1000000))
      ->type_name("COUNT");

  CLI::App* monitor =
      app.add_subcommand("monitor", "Watch the devices at work, against their measured roofs; changes nothing");
  monitor->add_option("--device", flags.device, "all, cpu, cuda, or some of them: cuda:0,2,cpu (default: all)")
      ->type_name("DEVICES");
  monitor->add_option("--interval", flags.interval, "Time between two samples, such as 500ms (default: 1s)")
      ->type_name("DURATION");
  monitor->add_flag("--once", flags.monitor.once, "One sample of everything, of one interval, and the end");
  monitor
      ->add_option("--format", flags.monitor_format,
                   "table; json: a line a sample, as --json; prometheus: with --once (default: table)")
      ->check(CLI::IsMember({"table", "json", "prometheus"}));
  monitor->add_flag("--no-counters", flags.no_counters,
                    "Leave the GPUs' hardware counters to others: no DRAM, no tensor activity");
  monitor->add_flag("--check", flags.monitor.check,
                    "Hold the bytes that a GPU's counters claim against a copy of known size; needed once, before they "
                    "are shown");

  app.add_subcommand("doctor", "What works on this machine, and what each missing thing would take");
  CLI::App* help = app.add_subcommand("help", "The manual: of a command, or of a topic");
  help->add_option("topic", flags.help.topic, "A command or a topic (default: what there is)")->type_name("TOPIC");
  help->add_flag("--man", flags.help.man, "As the source of a man page");
  help->add_option("--man-pages", flags.help.man_pages, "Write every man page to this folder")->type_name("FOLDER");
  CLI::App* completion = app.add_subcommand("completion", "The script that lets a shell complete this program's words");
  completion->add_option("shell", flags.completion.shell, "Of which shell")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));

  for (CLI::App* command : app.get_subcommands(nullptr)) add_answer_flags(*command, flags);
}

/// The argument to blame: the first flag that is not known, or else the first word too many.
std::string unexpected_argument(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  const auto flag = std::find_if(left.begin(), left.end(), [](const std::string& word) { return word[0] == '-'; });
  return flag != left.end() ? *flag : left.front();
}

[[noreturn]] void refuse_argument(const CLI::App& command, const std::string& given, const std::string& help) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  throw UsageError(fmt::format("'{}' is not an argument of roofline {}", given, command.get_name()),
                   nearest_hint(given.substr(0, given.find('=')), flags, help));
}

/// What CLI11 says, turned into what was wrong and what to do.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) commands.push_back(command->get_name());
  const std::string first = argc > 1 ? argv[1] : "";
  const bool known = std::find(commands.begin(), commands.end(), first) != commands.end();
  if (!known && !first.empty() && first.front() != '-') {
    throw UsageError(fmt::format("unknown command '{}'", first), nearest_hint(first, commands, "roofline --help"));
  }
  const std::string help = known ? fmt::format("roofline {} --help", first) : "roofline --help";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && known) {
    refuse_argument(*app.get_subcommand(first), unexpected_argument(app), help);
  }
  throw UsageError(error.what(), fmt::format("see: {}", help));
}

ChartOptions chart_of(const Flags& flags) {
  ChartOptions chart = flags.chart;
  if (!flags.size.empty()) parse_size(flags.size, chart);
  chart.theme = parse_theme(flags.theme);
  chart.marks = parse_marks(flags.marks);
  chart.of = parse_bytes(flags.bytes);
  check_pixels(chart);
  return chart;
}

/// With --json and nothing else the document is what is answered, and no file is written.
bool answers_only(const Flags& flags) { return flags.answer.json && flags.output.empty() && flags.formats.empty(); }

OutputRequest output_of(const Flags& flags, std::size_t runs = 1) {
  if (!answers_only(flags)) return parse_output(flags.output, flags.formats, runs);
  OutputRequest request;
  request.path = "-";
  request.formats = {find_format("json")};
  return request;
}

void set_profile(Options& options, Flags& flags, const DeviceRequest& device) {
  ProfileCommand& profile = flags.profile;
  profile.device = device;
  if (!flags.warmup.empty()) profile.warmup_s = parse_duration(flags.warmup, "--warmup");
  if (!flags.window.empty()) profile.window_s = parse_duration(flags.window, "--window");
  if (!flags.count_time.empty()) profile.count_time_s = parse_duration(flags.count_time, "--count-time");
  profile.counters = !flags.no_counters;
  profile.python = !flags.no_python;
  profile.output = output_of(flags);
  profile.chart = chart_of(flags);
  profile.plot = flags.plot;
  if (profile.program.empty() == profile.from.empty()) {
    throw UsageError(profile.from.empty() ? "no program was given" : "--from runs no program, and one was given",
                     "roofline profile [options] -- program [arguments], or roofline profile --from FOLDER");
  }
  options.command = profile;
}

void set_fleet(Options& options, const Flags& flags) {
  FleetCommand fleet = flags.fleet;
  fleet.output = answers_only(flags) ? "-" : flags.output;
  fleet.formats = answers_only(flags) ? std::vector<std::string>{"json"} : flags.formats;
  fleet.top = flags.answer.top.value_or(fleet.top);
  for (const std::string& format : fleet.formats) {
    if (format == "html" || format == "json" || format == "csv") continue;
    throw UsageError(fmt::format("--format {}: a fleet is written as html, json or csv", format));
  }
  if (fleet.output == "-" && fleet.formats.size() != 1) {
    throw UsageError("-o - needs exactly one --format", "for example: --format json -o -");
  }
  options.command = fleet;
}

void set_monitor(Options& options, const Flags& flags) {
  MonitorCommand monitor = flags.monitor;
  monitor.devices = parse_monitored(flags.device);
  constexpr double kShortest = 0.05;
  if (!flags.interval.empty()) monitor.interval_s = parse_duration(flags.interval, "--interval");
  if (monitor.interval_s < kShortest) {
    throw UsageError(fmt::format("--interval {}: 50ms is the shortest", flags.interval),
                     "for example: --interval 500ms");
  }
  monitor.counters = !flags.no_counters;
  if (flags.answer.json || flags.monitor_format == "json") {
    monitor.format = MonitorFormat::json;
  } else if (flags.monitor_format == "prometheus") {
    monitor.format = MonitorFormat::prometheus;
  }
  if (flags.answer.json && flags.monitor_format == "prometheus") {
    throw UsageError("--json and --format prometheus are two formats", "leave one of them out");
  }
  if (monitor.format == MonitorFormat::prometheus && !monitor.once) {
    throw UsageError("--format prometheus is one sample", "add --once, and let the collector call again");
  }
  if (flags.answer.top || !flags.answer.fields.empty()) {
    throw UsageError("monitor writes whole samples: it has no --top and no --fields");
  }
  options.command = monitor;
}

/// Names of kept runs name files.
void set_saved_runs(Flags& flags) {
  for (const auto& [name, option] : {std::pair(flags.analyze.save, "--save"), {flags.analyze.against, "--against"}}) {
    const bool safe = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (!safe || (!name.empty() && name[0] == '.')) {
      throw UsageError(fmt::format("{} {}: a name is made of letters, digits, '-', '_' and '.'", option, name));
    }
  }
  if (flags.max_slowdown.empty()) return;
  if (flags.analyze.against.empty())
    throw UsageError("--max-slowdown is how much slower than --against", "name a kept run with --against");
  flags.analyze.max_slowdown = parse_percentage(flags.max_slowdown, "--max-slowdown");
}

void set_command(Options& options, const CLI::App& app, Flags& flags) {
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "monitor") {
    set_monitor(options, flags);
    return;
  }
  const DeviceRequest device = parse_device(flags.device, flags.threads, flags.cpus);
  if (device.several() && name != "calibrate" && name != "machine") {
    throw UsageError(fmt::format("--device {}: {} works on one device", flags.device, name),
                     "name one: --device cuda:0");
  }
  if (name == "calibrate") {
    flags.calibrate.device = device;
    if (flags.answer.json && flags.calibrate.output.empty()) flags.calibrate.output = "-";
    options.command = flags.calibrate;
  } else if (name == "analyze") {
    flags.analyze.device = device;
    if (!flags.cache.empty()) flags.analyze.cache = flags.cache;
    if (!flags.counters.empty()) flags.analyze.counters = parse_counter_set(flags.counters);
    flags.analyze.output = output_of(flags);
    flags.analyze.chart = chart_of(flags);
    set_saved_runs(flags);
    flags.analyze.plot = flags.plot;
    options.command = flags.analyze;
  } else if (name == "profile") {
    set_profile(options, flags, device);
  } else if (name == "import") {
    flags.import.output = output_of(flags);
    flags.import.chart = chart_of(flags);
    flags.import.plot = flags.plot;
    options.command = flags.import;
  } else if (name == "report") {
    flags.report.output = output_of(flags, flags.report.files.size());
    flags.report.chart = chart_of(flags);
    flags.report.plot = flags.plot;
    options.command = flags.report;
  } else if (name == "compare") {
    if (!flags.max_slowdown.empty()) {
      flags.compare.max_slowdown = parse_percentage(flags.max_slowdown, "--max-slowdown");
    }
    if (flags.answer.json) flags.compare.format = "json";
    options.command = flags.compare;
  } else if (name == "fleet") {
    set_fleet(options, flags);
  } else if (name == "new") {
    options.command = flags.begin;
  } else if (name == "devices") {
    options.command = DevicesCommand{};
  } else if (name == "ops") {
    options.command = OpsCommand{flags.schema};
  } else if (name == "doctor") {
    options.command = DoctorCommand{};
  } else if (name == "help") {
    options.command = flags.help;
  } else if (name == "completion") {
    if (flags.completion.shell.empty() && flags.completion.words.empty()) {
      throw UsageError("which shell's script?", "roofline completion bash, zsh or fish; see: roofline help completion");
    }
    options.command = flags.completion;
  } else {
    flags.machine.device = device;
    if (flags.answer.json) flags.machine.format = "json";
    flags.machine.threshold = flags.threshold / 100;
    options.command = flags.machine;
  }
}

}  // namespace

namespace {

/// The arguments, last first as CLI11 takes them, with "--counters full" as "--counters=full": the value is optional,
/// so only a word that is one belongs to the flag.
std::vector<std::string> joined_values(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_value = !words.empty() && words.back() == "--counters" && parse_counter_set(word);
    if (is_value) {
      words.back() += "=" + word;
    } else {
      words.push_back(word);
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

/// How many of the words are ours: of `profile` and `completion`, those before "--"; what follows is somebody's
/// program, or what somebody has typed so far.
int own_words(int argc, const char* const* argv) {
  const std::string_view command = argc < 2 ? std::string_view() : argv[1];
  if (command != "profile" && command != "completion") return argc;
  return static_cast<int>(std::find(argv, argv + argc, std::string_view("--")) - argv);
}

}  // namespace

namespace {

void build(CLI::App& app, Flags& flags) {
  app.footer(kExamples);
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "roofline " ROOFLINE_VERSION);
  app.add_option("--color", flags.color, "Of what is printed (default: auto)")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  add_commands(app, flags);
}

/// CLI11 keeps the words that an option takes in the name of its type: "TEXT:{cold,hot}".
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return choices;
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t end = std::min(type.find(',', at), close);
    choices.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return choices;
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (entry.names.empty()) entry.argument = option.get_name(true);
  const std::string type = option.get_type_name();
  entry.choices = choices_in(type);
  entry.value_optional = option.get_items_expected_min() == 0 && !entry.choices.empty();
  const bool takes_value = entry.value_optional || (option.get_items_expected_max() > 0 && !type.empty());
  if (takes_value) entry.value = entry.choices.empty() ? type.substr(0, type.find(':')) : "WORD";
  entry.help = option.get_description();
  entry.required = option.get_required();
  entry.several = option.get_items_expected_max() > 1;
  return entry;
}

CommandEntry entry_of(const CLI::App& app) {
  CommandEntry entry{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) entry.options.push_back(entry_of(*option));
  for (const CLI::App* command : app.get_subcommands(nullptr)) entry.commands.push_back(entry_of(*command));
  return entry;
}

constexpr const char* kSummary = "Measures what a machine can do, and how close each kernel comes.";

}  // namespace

CommandEntry command_tree() {
  CLI::App app(kSummary, "roofline");
  Flags flags;
  build(app, flags);
  return entry_of(app);
}

Options parse_options(int argc, const char* const* argv) {
  CLI::App app(kSummary, "roofline");
  Flags flags;
  build(app, flags);

  Options options;
  options.argv.assign(argv, argv + argc);
  const int own = own_words(argc, argv);
  if (own < argc) {
    std::vector<std::string>& rest =
        std::string_view(argv[1]) == "profile" ? flags.profile.program : flags.completion.words;
    rest.assign(argv + own + 1, argv + argc);
  }
  try {
    app.parse(joined_values(own, argv));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    options.command = PrintCommand{chosen.empty() ? app.help() : chosen.front()->help()};
    return options;
  } catch (const CLI::CallForVersion& version) {
    options.command = PrintCommand{std::string(version.what()) + "\n"};
    return options;
  } catch (const CLI::ParseError& error) {
    explain(app, error, own, argv);
  }
  if (flags.color != "auto") options.color = flags.color == "always" ? ColorMode::always : ColorMode::never;
  if (!flags.answer.json && !flags.answer.fields.empty()) {
    throw UsageError("--fields chooses of what --json writes", "add --json");
  }
  options.answer = flags.answer;
  set_command(options, app, flags);
  return options;
}

}  // namespace roofline
