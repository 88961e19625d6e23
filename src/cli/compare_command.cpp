// roofline compare: two runs of a suite, row by row; a gate for whoever changes kernels.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "host/file_limits.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

std::string render(const Comparison& comparison, const std::string& format, const TerminalStyle& style) {
  if (format == "md") return render_comparison_markdown(comparison);
  if (format == "json") return render_comparison_json(comparison);
  if (format == "csv") return render_comparison_csv(comparison);
  return render_comparison_terminal(comparison, style);
}

}  // namespace

ExitCode run_compare(const CompareCommand& command, const Options& options) {
  const Report base = parse_report(read_file(command.base, kReportLimit), command.base);
  const Report now = parse_report(read_file(command.now, kReportLimit), command.now);
  check_comparable(base, now, command.base, command.now);
  const Comparison comparison = comparison_of(base, now, command.max_slowdown);
  print_result(render(comparison, command.format, stdout_table_style(options.color)));
  const std::string regressions = regression_line(comparison);
  if (!regressions.empty()) {
    say_problem({"regression", regressions, "time both again where the intervals are wide"});
    return ExitCode::regression;
  }
  if (now.complete) return ExitCode::ok;
  say_problem({"unfinished", outcome_line(comparison), "finish the later run"});
  return ExitCode::workload_failed;
}

}  // namespace roofline
