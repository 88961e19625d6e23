// argv → Options: what the user asked for, as plain data. Nothing is done here.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "device/counter_reader.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "render/formats.hpp"
#include "render/render.hpp"
#include "report/comparison/compare_runs.hpp"

namespace roofline {

/// --device, --threads and --cpus. No kind means: the first CUDA GPU that works, else the CPU.
struct DeviceRequest {
  std::optional<DeviceKind> kind;
  int index = 0;
  int threads = 0;
  std::vector<int> cpus = {};     ///< empty: those that the CPU device chooses
  bool all = false;               ///< every GPU of this machine (--device all)
  std::vector<int> indices = {};  ///< these GPUs, ascending (--device cuda:0,2); empty: one device

  /// Whether it names a node rather than one device.
  bool several() const { return all || !indices.empty(); }
};

struct CalibrateCommand {
  DeviceRequest device;
  bool quick = false;
  std::optional<double> time_s;  ///< wall time for a CPU's calibration; nothing: its default
  double sustain_s = 2;          ///< sampling time of each sustained ceiling; 0: none
  bool verbose = false;          ///< say what every failed check found
  bool once = false;             ///< run every probe once for a profiler, and measure nothing
  bool no_wait = false;          ///< begin beside another calibration of the same device
  std::string only = "*";
  std::string output;  ///< machine file; "-" for stdout; empty: only the cache
};

/// -o and --format: where a report goes.
struct OutputRequest {
  std::string path;                    ///< a folder, one file, or "-" for stdout; empty: the command's own folder
  std::vector<const Format*> formats;  ///< empty: the usual ones
  bool is_file = false;                ///< `path` is one file, of the one format
  bool to_stdout() const { return path == "-"; }
};

struct AnalyzeCommand {
  DeviceRequest device;
  std::string suite;
  std::string machine;  ///< machine file; empty: the one in the cache
  std::string only = "*";
  OutputRequest output;  ///< its own folder is reports/<suite>-<device>/
  ChartOptions chart;
  bool plot = false;                   ///< draw the chart in the terminal too
  double max_time_s = 3;               ///< sampling time for each workload
  std::optional<double> row_limit_s;   ///< wall time for each workload, 0 for none; nothing: ten minutes and more
  std::optional<std::string> cache;    ///< overrides the suite's cache mode
  bool raw = false;                    ///< keep the raw samples in report.json
  std::optional<CounterSet> counters;  ///< read hardware counters after the timing
  bool once = false;                   ///< run every workload once for a profiler, and time nothing
  std::string save;                    ///< name to keep the run by; empty: none
  std::string against;                 ///< name of a kept run to compare with; empty: none
  double max_slowdown = kMaxSlowdown;  ///< against it, as a fraction
};

struct ProfileCommand {
  DeviceRequest device;
  std::vector<std::string> program;  ///< argv, from behind "--"
  std::string machine;               ///< machine file; empty: the one in the cache
  std::string from;                  ///< folder of spools to report on, instead of running a program
  std::string keep;                  ///< folder that the spools are kept in; empty: nowhere
  double warmup_s = 0;
  std::optional<double> window_s;
  bool counters = true;
  double count_time_s = 30;
  int runs = 1;
  bool baseline = false;
  bool python = true;
  OutputRequest output;  ///< its own folder is reports/<program>-<device>/
  ChartOptions chart;
  bool plot = false;
};

struct ImportCommand {
  std::vector<std::string> files;  ///< of other tools; joined where they are several
  std::string machine;             ///< machine file; empty: the one kept of such a GPU
  OutputRequest output;            ///< its own folder is reports/<file>/
  ChartOptions chart;
  bool plot = false;
};

struct ReportCommand {
  std::vector<std::string> files;  ///< several are laid over each other
  OutputRequest output;            ///< its own folder is that of the file, or reports/comparison/ for several
  ChartOptions chart;
  bool plot = false;
};

struct CompareCommand {
  std::string base, now;
  double max_slowdown = kMaxSlowdown;  ///< as a fraction
  std::string format = "table";        ///< table, md, json or csv
};

struct DevicesCommand {};

struct OpsCommand {
  bool schema = false;  ///< the JSON Schema of suites
};

struct MachineCommand {
  DeviceRequest device;
  std::string file;              ///< machine file; empty: the one in the cache
  std::string format = "table";  ///< table, md or json
  std::string against;           ///< machine file to compare with; empty: none
  double threshold = 0.01;       ///< the least difference that counts, as a fraction
  bool verbose = false;          ///< say what every failed check found
};

struct FleetCommand {
  std::vector<std::string> paths;    ///< files and folders
  std::string output;                ///< a folder, one file, or "-" for stdout; empty: reports/fleet
  std::vector<std::string> formats;  ///< html, json, csv; empty: html and json
  std::size_t top = 20;              ///< outliers, changes and files that the terminal lists of each
};

/// Which devices are watched. None named: all there are.
struct MonitoredDevices {
  bool cpu = false;
  bool every_gpu = false;
  std::vector<int> gpus;
  bool all() const { return !cpu && !every_gpu && gpus.empty(); }
};

enum class MonitorFormat : std::uint8_t { table, json, prometheus };

struct MonitorCommand {
  MonitoredDevices devices;
  double interval_s = 1;
  bool once = false;     ///< one sample
  bool counters = true;  ///< of GPUs, sampled by the hardware
  bool check = false;    ///< hold the counters' bytes against a copy of known size, and show nothing else
  MonitorFormat format = MonitorFormat::table;
};

/// roofline new kernel.
struct NewCommand {
  std::string source;  ///< of a kernel
  std::string output;  ///< the suite's file, "-" for stdout; empty: beside the source
};

/// Text that was asked for with --help or --version.
struct PrintCommand {
  std::string text;
};

/// What a topic, a command or all of it is about.
struct HelpCommand {
  std::vector<std::string> topic;  ///< a command's or a topic's name; empty: all of it in short
  bool man = false;                ///< as the source of a man page
  std::string man_pages;           ///< folder that all man pages are written to; empty: none
};

struct CompletionCommand {
  std::string shell;               ///< bash, zsh or fish: its script; empty where there are words
  std::vector<std::string> words;  ///< what has been typed behind `roofline`; the last is to be completed
};

struct DoctorCommand {};

/// What programs ask for: one JSON document on stdout, and of its rows how many and which fields.
struct AnswerRequest {
  bool json = false;
  std::optional<std::size_t> top;
  std::vector<std::string> fields;
};

enum class ColorMode : std::uint8_t { automatic, always, never };

struct Options {
  std::vector<std::string> argv;
  ColorMode color = ColorMode::automatic;
  AnswerRequest answer;
  std::variant<PrintCommand, CalibrateCommand, AnalyzeCommand, ProfileCommand, ImportCommand, ReportCommand,
               CompareCommand, DevicesCommand, OpsCommand, MachineCommand, FleetCommand, MonitorCommand, NewCommand,
               HelpCommand, CompletionCommand, DoctorCommand>
      command;
};

/// Throws UsageError with a hint: the nearest name, or the command's help.
Options parse_options(int argc, const char* const* argv);

}  // namespace roofline
