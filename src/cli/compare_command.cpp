// roofline compare: compares two runs row by row. Its exit status makes it a gate for CI.
#include <fmt/format.h>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "host/file_limits.hpp"
#include "host/interrupt.hpp"
#include "render/documents.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

struct Flags {
  std::string base, now;
  double max_slowdown = kMaxSlowdown;  ///< as a fraction
  std::string format = "table";
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("base", text("FILE", flags.base), "report.json of the earlier run");
  command.add("new", text("FILE", flags.now), "report.json of the later run");
  command.add("--max-slowdown", percentage(flags.max_slowdown),
              "Slowdown above which a kernel is a regression (default: 3%)");
  command.add("--format", one_of(flags.format, {"table", "md", "json", "csv"}), "Output format (default: table)");
}

std::string render(const Comparison& comparison, const std::string& format, const TerminalStyle& style) {
  if (format == "md") return render_comparison_markdown(comparison);
  if (format == "json") return render_comparison_json(comparison);
  if (format == "csv") return render_comparison_csv(comparison);
  return render_comparison_terminal(comparison, style);
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  const Report base = parse_report(read_file(flags.base, kReportLimit), flags.base);
  const Report now = parse_report(read_file(flags.now, kReportLimit), flags.now);
  check_comparable(base, now, flags.base, flags.now);
  const Comparison comparison = comparison_of(base, now, flags.max_slowdown);
  print_result([&] { return comparison_to_json(comparison); },
               [&] { return render(comparison, flags.format, stdout_table_style(global.color)); });
  const std::string regressions = regression_line(comparison);
  if (!regressions.empty()) {
    print_problem({"regression", regressions, "repeat both runs if the confidence intervals are wide"});
    return ExitCode::regression;
  }
  if (now.complete) return ExitCode::ok;
  print_problem({"unfinished", outcome_line(comparison), "complete the later run"});
  return ExitCode::workload_failed;
}

}  // namespace

CommandEntry compare_command() {
  return CommandRow<Flags>{"compare", "Compare two runs; exit status 3 if a kernel got slower", add_options, run};
}

}  // namespace roofline
