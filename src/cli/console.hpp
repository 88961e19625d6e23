// Output: results go to stdout, everything else to stderr; and what the terminal supports.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "calibrate/calibrate.hpp"
#include "cli/command.hpp"
#include "render/render.hpp"

namespace roofline {

struct Answer;
struct Problem;
struct ProgressReport;

/// Style of results: color as requested, else on a terminal without NO_COLOR; Unicode in a
/// UTF-8 locale; the width of the terminal, 80 columns if that is unknown.
TerminalStyle stdout_style(ColorMode color);
TerminalStyle stderr_style(ColorMode color);
/// stdout_style() on a terminal; in a pipe wide enough for full names, so that grep finds them, unless COLUMNS says how
/// wide.
TerminalStyle stdout_table_style(ColorMode color);

/// Also collects results, warnings and problems in `answer` (--json). stderr is unchanged.
void answer_with(Answer& answer);

/// The result of a command: its document with --json, its text on stdout without. Only one of them is made. Where a
/// result has no document (null), the answer holds the text. Throws Error when stdout can't be written (a full disk, a
/// closed pipe).
void print_result(const std::function<nlohmann::ordered_json()>& document, const std::function<std::string()>& text);
/// A result that is JSON with and without --json.
void print_document(const nlohmann::ordered_json& document);
/// A result that is only text.
void print_text(const std::string& text);
/// A comparison to add to the answer; requires answer_with().
void add_to_answer(const nlohmann::ordered_json& comparison);
void write_stdout(const std::string& text);  ///< bypasses the answer

/// Rendered text on stderr, as it is: renderers clean the names in it, and their colors must be kept.
void print_rendered(const std::string& text);
/// Lines on stderr, cleaned: a name from a file never reaches the terminal as an escape sequence.
void print_status(const std::string& line);
/// "note: …": what affects how to read the result.
void warn(const std::string& line);
/// An error or a failed gate, which determines the exit code. `prefix` is for stderr only.
void print_problem(const Problem& problem, const std::string& prefix = {});

/// A progress line on stderr, redrawn in place. If stderr is not a terminal it is silent, or with
/// ROOFLINE_PROGRESS=lines a line of JSON several times per second.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Draws "[ 3/14] gemm fp16 … about 20 s left".
  void show(const Progress& progress);
  void clear();

 private:
  void write_line(const ProgressReport& report);

  bool enabled_;
  bool in_lines_;  ///< for a program that reads stderr
  bool drawn_ = false;
  double begin_s_, written_s_ = 0;
};

}  // namespace roofline
