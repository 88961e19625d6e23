// argv → Options: what the user asked for, as plain data. Nothing is done here.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"

namespace roofline {

/// --device and --threads. No kind means: the first CUDA GPU that works, else the CPU.
struct DeviceRequest {
  std::optional<DeviceKind> kind;
  int index = 0;
  int threads = 0;
};

struct CalibrateCommand {
  DeviceRequest device;
  bool quick = false;
  double sustain_s = 2;  ///< sampling time of each sustained ceiling; 0: none
  bool once = false;     ///< run every probe once for a profiler, and measure nothing
  std::string only = "*";
  std::string output;  ///< machine file; "-" for stdout; empty: only the cache
};

struct AnalyzeCommand {
  DeviceRequest device;
  std::string suite;
  std::string machine;  ///< machine file; empty: the one in the cache
  std::string only = "*";
  std::string output;  ///< folder; "-" for stdout with one format; empty: reports/<suite>-<device>/
  std::vector<std::string> formats;
  double max_time_s = 3;             ///< sampling time for each workload
  std::optional<std::string> cache;  ///< overrides the suite's cache mode
  bool raw = false;                  ///< keep the raw samples in report.json
};

struct ReportCommand {
  std::string file;
  std::string output;
  std::vector<std::string> formats;
};

struct DevicesCommand {
  bool json = false;
};

struct OpsCommand {
  bool json = false;
};

struct MachineCommand {
  DeviceRequest device;
  std::string file;              ///< machine file; empty: the one in the cache
  std::string format = "table";  ///< table, md or json
  std::string against;           ///< machine file to compare with; empty: none
  double threshold = 0.01;       ///< the least difference that counts, as a fraction
};

/// Text that was asked for with --help or --version.
struct PrintCommand {
  std::string text;
};

enum class ColorMode : std::uint8_t { automatic, always, never };

struct Options {
  std::vector<std::string> argv;
  ColorMode color = ColorMode::automatic;
  std::variant<PrintCommand, CalibrateCommand, AnalyzeCommand, ReportCommand, DevicesCommand, OpsCommand,
               MachineCommand>
      command;
};

/// The formats that -o and --format know, in the order in which they are written.
const std::vector<std::string>& report_formats();

/// Throws UsageError with a hint: the nearest name, or the command's help.
Options parse_options(int argc, const char* const* argv);

}  // namespace roofline
