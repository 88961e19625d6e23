// roofline ab: times two suites row by row in alternation. Its exit status makes it a gate for CI.

#include <algorithm>
#include <utility>

#include "analyze/ab.hpp"
#include "analyze/ab_round.hpp"
#include "analyze/own_kernels.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"
#include "cli/suites.hpp"
#include "op/layout.hpp"

namespace roofline {
namespace {

struct Flags {
  DeviceRequest device;
  AbOptions options;
  std::string before, now;  ///< suites
  std::string only = "*";
  std::optional<double> threshold;  ///< as a fraction; the outcome is "Pass" or "Fail" then
  std::optional<CacheMode> cache;   ///< overrides that of both suites
  DocumentOutput output{"comparison", {"md", "json", "csv", "junit", "sarif"}};
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("old", text("SUITE", flags.before), "Suite file of the earlier version, or an installed suite");
  command.add("new", text("SUITE", flags.now), "Suite file of the later version");
  flags.device.add_to(command);
  command.add("--only", text("OP", flags.only), "Compare only workloads whose op or label matches this glob");
  command.add("--threshold", percentage(flags.threshold),
              "Smallest slowdown that counts as a difference (default: 3%)");
  command.add("--max-time", seconds(flags.options.max_time_s, 0.1, 3600),
              "Sampling time per workload (default: 3s), up to three times as long if it may be slower or faster");
  command.add("--row-limit", seconds(flags.options.round_limit_s, 0, 1e6),
              "Time limit per round, after which the workload fails (default: 10min; 0: none)");
  command.add("--cache", one_of(flags.cache, {std::pair("cold", CacheMode::cold), {"hot", CacheMode::hot}}),
              "Override the cache mode of both suites");
  flags.output.add_to(command);
}

void finish(Flags& flags, GlobalOptions& global) {
  constexpr double kUsualRoundLimit = 600;
  flags.device.finish("ab");
  flags.output.finish();
  AbOptions& options = flags.options;
  options.threshold = flags.threshold.value_or(options.threshold);
  options.command = global.argv;
  options.round_limit_s = options.round_limit_s.value_or(kUsualRoundLimit);
  if (*options.round_limit_s <= 0) options.round_limit_s.reset();
}

/// Both sides of a row are in memory at the same time.
Suite load_side(const std::string& name, const Flags& flags, const SelectedDevice& device) {
  Suite suite = load_for(device.info.kind, name, flags.only, flags.cache);
  require_memory(suite,
                 {.bytes = device.last_level_cache_bytes,
                  .device = device.info.kind,
                  .free_memory_bytes = std::min(device.free_memory_bytes, kMostFreeOfAb)},
                 device.free_memory_bytes / 2);
  return suite;
}

void compile_side(const Suite& suite, const SelectedDevice& device, ProgressLine& line) {
  compile_own_kernels(suite, device.info.isa, [&](std::size_t done) {
    line.show({static_cast<std::int64_t>(done), 0, "compiling kernels", std::nullopt});
  });
}

ExitCode exit_code_of_ab(const AbResult& result, const Comparison& comparison, bool is_shown) {
  if (result.cancelled) return ExitCode::cancelled;
  if (print_regressions(comparison, "repeat with a longer --max-time if the intervals are wide", is_shown)) {
    return ExitCode::regression;
  }
  const auto failed = [](const Report& side) { return exit_code_of(side) == ExitCode::workload_failed; };
  return failed(result.base) || failed(result.now) ? ExitCode::workload_failed : ExitCode::ok;
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  flags.output.require();
  const SelectedDevice device = choose_device(flags.device);
  // Report every mistake in the request before measuring anything.
  const Suite before = load_side(flags.before, flags, device);
  const Suite now = load_side(flags.now, flags, device);
  ProgressLine line;
  compile_side(before, device, line);
  compile_side(now, device, line);
  flags.options.device = device.choice;
  flags.options.progress = [&](const Progress& progress) { line.show(progress); };
  const AbResult result = compare_suites(before, now, device.info, flags.options);
  line.clear();
  Comparison comparison = result.comparison();
  comparison.gate = flags.threshold.has_value();
  put_comparison(flags.output, comparison, global.color);
  return exit_code_of_ab(result, comparison, flags.output.prints_text() && !global.answer.json);
}

}  // namespace

CommandEntry ab_command() {
  return CommandRow<Flags>{"ab", "Time two suites in alternation; exit status 3 if a kernel got slower", add_options,
                           run, finish};
}

}  // namespace roofline
