// roofline compare: compares two sides row by row, each of one run or several. Its exit status makes it a gate for CI.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "cli/saved_runs.hpp"
#include "host/interrupt.hpp"
#include "report/comparison/comparison.hpp"

namespace roofline {
namespace {

struct Flags {
  std::vector<std::string> files;      ///< before "--", or one run of each side
  std::vector<std::string> later;      ///< after "--"
  std::optional<double> max_slowdown;  ///< as a fraction; the outcome is "Pass" or "Fail" then
  DocumentOutput output{"comparison", {"md", "json", "csv", "junit", "sarif"}};
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add(
      "files", words("FILE", flags.files),
      "report.json (or its folder) of the earlier and of the later run; with several per side, separate the sides "
      "by --");
  command.rest = kFilesAfterDashes;
  command.rest_target = &flags.later;
  command.add("--max-slowdown", percentage(flags.max_slowdown),
              "Slowdown above which a kernel, step or program is a regression (default: 3%)");
  flags.output.add_to(command);
}

/// One run of each side needs no "--".
void finish(Flags& flags, GlobalOptions&) {
  flags.output.finish();
  for (const std::string& file : flags.later) {
    if (file.starts_with("--")) throw UsageError(fmt::format("'{}' follows '--'", file), "write options first");
  }
  if (!flags.later.empty()) return;
  if (flags.files.size() < 2) throw UsageError("one run given: nothing to compare it with");
  if (flags.files.size() > 2) {
    throw UsageError(fmt::format("{} runs given, and no '--' between earlier and later ones", flags.files.size()),
                     "roofline compare EARLIER1 EARLIER2 -- LATER1 LATER2");
  }
  flags.later.push_back(std::move(flags.files.back()));
  flags.files.pop_back();
}

PooledRuns read_side(const std::vector<std::string>& files) {
  std::vector<Report> runs;
  for (const std::string& file : files) runs.push_back(read_run(file));
  for (std::size_t i = 1; i < runs.size(); ++i) require_one_kind(runs[0], runs[i], files[0], files[i]);
  return pool_runs(std::move(runs));
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  flags.output.require();
  const PooledRuns base = read_side(flags.files), now = read_side(flags.later);
  check_comparable(base.report, now.report, flags.files.front(), flags.later.front());
  Comparison comparison = comparison_of(base, now, flags.max_slowdown.value_or(kMaxSlowdown));
  comparison.gate = flags.max_slowdown.has_value();
  put_comparison(flags.output, comparison, global.color);
  const char* hint = "pass several runs per side, or time both with roofline ab";
  if (print_regressions(comparison, comparison.of_programs() ? "pass several runs per side" : hint)) {
    return ExitCode::regression;
  }
  if (!comparison.program && std::ranges::none_of(comparison.changes, is_compared)) {
    print_problem({"failed", "no kernel was timed in both runs, so nothing was compared",
                   "rows match by label, op, implementation, type, shape and cache mode"});
    return ExitCode::workload_failed;
  }
  if (now.report.complete) return ExitCode::ok;
  print_problem({"unfinished", outcome_line(comparison), "complete the later run"});
  return ExitCode::workload_failed;
}

}  // namespace

CommandEntry compare_command() {
  return CommandRow<Flags>{"compare", "Compare two runs; exit status 3 if a kernel, step or program got slower",
                           add_options, run, finish};
}

}  // namespace roofline
