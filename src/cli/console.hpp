// What the terminal can do, and the two streams: results on stdout, everything else on stderr.
#pragma once

#include <string>

#include "calibrate/calibrate.hpp"
#include "cli/answer.hpp"
#include "cli/options.hpp"
#include "render/render.hpp"

namespace roofline {

/// How results may look: colour as asked for, else on a terminal without NO_COLOR; Unicode in a
/// UTF-8 locale; as wide as the terminal, 80 columns where that is not known.
TerminalStyle stdout_style(ColorMode color);
TerminalStyle stderr_style(ColorMode color);
/// The same as stdout_style() on a terminal; in a pipe as wide as names are, for grep finds no name that is cut.
TerminalStyle stdout_table_style(ColorMode color);

/// From now on what is printed is kept for the answer, and so is what users are warned of; stderr stays as it is.
void answer_with(Answer& answer);

/// Writes to stdout; throws Error when that fails (a full disk, a closed pipe).
void print_result(const std::string& text);
/// Of a comparison beside the result; asks for an answer (answer_with).
void answer_beside(const std::string& comparison);
void write_stdout(const std::string& text);  ///< also where an answer is made

/// One line on stderr.
void say(const std::string& line);
/// "note: …": what must be known to understand the result.
void warn(const std::string& line);
/// What went wrong, or what a gate found: it decides the exit code. On stderr it is said behind `prefix`.
void say_problem(const Problem& problem, const std::string& prefix = {});

/// A progress line on stderr, redrawn in place; silent where stderr is no terminal.
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
  bool enabled_;
  bool drawn_ = false;
  double begin_s_;
};

}  // namespace roofline
