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
      "report.json (or its folder) of the earlier and of the later run, or profiles of other tools (see roofline "
      "import); with several per side, separate the sides by --");
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

PooledRuns read_side(const std::vector<std::string>& files, const GlobalOptions& global) {
  std::vector<Report> runs;
  runs.reserve(files.size());
  for (const std::string& file : files) runs.push_back(read_run_or_profile(file, global.argv));
  for (std::size_t i = 1; i < runs.size(); ++i) require_one_kind(runs[0], runs[i], files[0], files[i]);
  return pool_runs(std::move(runs));
}

/// How to get a verdict that is surer.
std::string hint_of(const Comparison& comparison) {
  const bool one_run = comparison.base_runs + comparison.now_runs == 2;
  if (comparison.of_programs()) return one_run ? "pass several runs per side" : "";
  return one_run ? "pass several runs per side, or time both with roofline ab" : "time both with roofline ab";
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  flags.output.require();
  const PooledRuns base = read_side(flags.files, global), now = read_side(flags.later, global);
  check_comparable(base.report, now.report, flags.files.front(), flags.later.front());
  Comparison comparison = comparison_of(base, now, flags.max_slowdown.value_or(kMaxSlowdown));
  comparison.gate = flags.max_slowdown.has_value();
  put_comparison(flags.output, comparison, global.color);
  // The table and Markdown begin with the verdict.
  const bool is_shown = flags.output.prints_text() && !global.answer.json;
  if (print_regressions(comparison, hint_of(comparison), is_shown)) return ExitCode::regression;
  const auto no_verdict = [&](const char* hint) {
    if (is_shown) return print_status(hint);
    print_problem({"failed", outcome_line(comparison), hint});
  };
  if (comparison.compared_nothing()) {
    no_verdict("rows match by label, op, implementation, type, shape and cache mode");
    return ExitCode::workload_failed;
  }
  if (now.report.complete) return ExitCode::ok;
  no_verdict("complete the later run");
  return ExitCode::workload_failed;
}

}  // namespace

CommandEntry compare_command() {
  return CommandRow<Flags>{"compare", "Compare two runs; exit status 3 if a kernel, step or program got slower",
                           add_options, run, finish};
}

}  // namespace roofline
