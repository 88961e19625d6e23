// Output options of reports: -o, --format, --plot and the appearance of the chart; and writing the files.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/document_output.hpp"
#include "model/error.hpp"
#include "render/formats.hpp"
#include "render/render.hpp"
#include "report/report.hpp"

namespace roofline {

/// -o and --format of a command that writes several formats.
struct FileOutput {
  std::string path = {};                    ///< a directory, one file, or "-" for stdout; empty:
                                            ///< the command's own
  std::vector<const Format*> formats = {};  ///< once each; empty: the default ones
  std::vector<std::string> writable = {};   ///< names of the formats that the command writes
  bool is_file = false;                     ///< `path` is one file, of the one format: chart.svg

  bool to_stdout() const { return path == "-"; }
  /// The directory of the file, the one that was given, or else `own`.
  std::filesystem::path folder(const std::filesystem::path& own) const;
  /// The one file that was given, or else `name` in `folder`.
  std::filesystem::path file(const std::filesystem::path& folder, std::string_view name) const;

  /// Help shows the command's own directory, the names of its formats and those
  /// of the default ones.
  void add_to(CommandEntry& command, const std::string& own, const std::vector<std::string>& names,
              const std::string& usual);
  /// With --json and no output given, the document goes to stdout. Refuses files of formats that the command does not
  /// write, and of endings that are none. `runs` is the number of runs in the output.
  void finish(const GlobalOptions& global, std::size_t runs = 1);

 private:
  std::vector<std::string> writable_of(std::size_t runs) const;
};

/// The output of a report: also its chart.
struct ReportOutput : FileOutput {
  ChartOptions chart = {};
  bool plot = false;  ///< also draw the chart in the terminal

  void add_to(CommandEntry& command, const std::string& own, const std::vector<std::string>& names = format_names());
  /// `runs` is the number of runs in the report.
  void finish(const GlobalOptions& global, std::size_t runs = 1);
};

/// Throws UsageError where a file that write_outputs() would write is an input, or cannot be replaced.
void require_outputs(const ReportOutput& output, const std::filesystem::path& folder);

/// Writes each format (the usual ones if none is named) into `folder`, or the single file named by `output`; returns
/// the paths. The file `written` already exists.
std::vector<std::filesystem::path> write_outputs(const Runs& runs, const ReportOutput& output,
                                                 const std::filesystem::path& folder,
                                                 const std::filesystem::path& written = {});

/// Result of `render`. Formats that may crash are rendered in a child process; throws Error if that crashes.
std::string rendered(const Format& format, const std::function<std::string()>& render);

/// The runs in the one format of an output that goes to stdout; JSON as a
/// document.
void print_format(const Runs& runs, const ReportOutput& output);

/// Prints the result: the report for the terminal, with its plot if requested, or a document. For several runs, the
/// changes.
void print_runs(const Runs& runs, const ReportOutput& output, ColorMode color);

/// The files of a comparison, and the table of it on stdout. "comparison" and {"md", "json", "csv"}.
void put_comparison(const DocumentOutput& output, const Comparison& comparison, ColorMode color);

/// Says on stderr which kernels got slower, unless a table on stdout already `is_shown` that says so; false where none
/// did.
bool print_regressions(const Comparison& comparison, const std::string& hint, bool is_shown = false);

/// Says on stderr what was written.
void print_written(const std::vector<std::filesystem::path>& paths);

/// Throws UsageError when the devices are of different kinds.
void require_one_kind(const Report& base, const Report& now, const std::string& base_file, const std::string& now_file);

/// Throws UsageError when the devices are of different kinds; says on stderr
/// what makes the runs hard to compare.
void check_comparable(const Report& base, const Report& now, const std::string& base_file, const std::string& now_file);

/// 1 when a row failed, 130 when the run was cancelled, else 0.
ExitCode exit_code_of(const Report& report);

}  // namespace roofline
