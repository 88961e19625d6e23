// Parses, runs a command, and turns an error into a message and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <system_error>
#include <variant>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "host/interrupt.hpp"

namespace roofline {
namespace {

struct RunCommand {
  const Options& options;

  ExitCode operator()(const PrintCommand& command) const {
    print_result(command.text);
    return ExitCode::ok;
  }
  ExitCode operator()(const CalibrateCommand& command) const { return run_calibrate(command, options); }
  ExitCode operator()(const AnalyzeCommand& command) const { return run_analyze(command, options); }
  ExitCode operator()(const ProfileCommand& command) const { return run_profile(command, options); }
  ExitCode operator()(const ImportCommand& command) const { return run_import(command, options); }
  ExitCode operator()(const ReportCommand& command) const { return run_report(command, options); }
  ExitCode operator()(const CompareCommand& command) const { return run_compare(command, options); }
  ExitCode operator()(const DevicesCommand& command) const { return run_devices(command, options); }
  ExitCode operator()(const OpsCommand& command) const { return run_ops(command, options); }
  ExitCode operator()(const NewCommand& command) const { return run_new(command, options); }
  ExitCode operator()(const MachineCommand& command) const { return run_machine(command, options); }
  ExitCode operator()(const FleetCommand& command) const { return run_fleet(command, options); }
};

/// A message that needs none.
ExitCode without_memory() {
  std::fputs("roofline: no memory is left\n  stop other programs, or allow this one more (ulimit -v, cgroup)\n",
             stderr);
  return ExitCode::workload_failed;
}

ExitCode run(int argc, const char* const* argv) {
  try {
    const Options options = parse_options(argc, argv);
    catch_interrupts();
    return std::visit(RunCommand{options}, options.command);
  } catch (const Error& error) {
    say(fmt::format("roofline: {}", error.what()));
    if (!error.hint().empty()) say("  " + error.hint());
    return interrupted() ? ExitCode::cancelled : error.exit_code();
  } catch (const std::bad_alloc&) {
    return without_memory();
  } catch (const std::system_error& error) {
    say(fmt::format("roofline: the system refused: {}", error.what()));
    return ExitCode::workload_failed;
  } catch (const std::exception& error) {
    say(fmt::format("roofline: {}\n  this is a mistake of the program; please report it", error.what()));
    return ExitCode::workload_failed;
  }
}

}  // namespace
}  // namespace roofline

int main(int argc, char** argv) {
  try {
    return static_cast<int>(roofline::run(argc, argv));
  } catch (const std::exception&) {  // what has a message could not be told
    return static_cast<int>(roofline::without_memory());
  }
}
