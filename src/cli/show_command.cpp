// roofline show: a kernel of a profile, by source line and instruction. Measures nothing.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/saved_runs.hpp"
#include "render/kernel_listing.hpp"
#include "report/json/kernel_samples_json.hpp"
#include "report/profile_findings.hpp"

namespace roofline {
namespace {

struct Flags {
  std::string report, kernel;
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("report", text("FILE", flags.report), "report.json of a profile, or its folder");
  command.add("--kernel", text("NAME", flags.kernel),
              "Part of a kernel's name; shows the first match (default: list all kernels)");
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  const Report report = read_run(flags.report);
  if (is_of_host(report)) {
    throw UsageError(fmt::format("{}: this program ran no GPU kernels", flags.report),
                     "its lines are in the report: roofline report " + flags.report);
  }
  if (!report.profile || report.profile->instructions.empty()) {
    throw UsageError(fmt::format("{}: contains no instruction samples", flags.report),
                     "profile a program that runs kernels for a second or more (roofline profile -- program), where "
                     "counters are permitted (roofline doctor), or import a report of ncu --section SourceCounters");
  }
  const KernelSamples& samples = report.profile->instructions;
  if (flags.kernel.empty()) {
    print_result([&] { return json_of(samples); },
                 [&] { return render_sampled_kernels(report, stdout_style(global.color)); });
    return ExitCode::ok;
  }
  for (const SampledKernel& kernel : samples.kernels) {
    if (kernel.name.find(flags.kernel) == std::string::npos) continue;
    KernelSamples one = samples;
    one.kernels = {kernel};
    print_result([&] { return json_of(one); },
                 [&] { return render_kernel_listing(report, kernel, stdout_style(global.color)); });
    return ExitCode::ok;
  }
  throw UsageError(fmt::format("--kernel: no sampled kernel's name contains {}", flags.kernel),
                   fmt::format("roofline show {} lists them", flags.report));
}

}  // namespace

CommandEntry show_command() {
  return CommandRow<Flags>{"show", "Show a profile's kernels by source line and instruction", add_options, run};
}

}  // namespace roofline
