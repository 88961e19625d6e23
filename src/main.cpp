// Parses, runs a command, and turns an error into a message and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <variant>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "host/interrupt.hpp"
#include "host/library_path.hpp"

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

ExitCode run(int argc, char** argv) {
  try {
    leave_relative_library_folders(argv);
    const Options options = parse_options(argc, argv);
    catch_interrupts();
    return std::visit(RunCommand{options}, options.command);
  } catch (const Error& error) {
    fmt::print(stderr, "roofline: {}\n", error.what());
    if (!error.hint().empty()) fmt::print(stderr, "  {}\n", error.hint());
    return interrupted() ? ExitCode::cancelled : error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "roofline: {}\n  this is a mistake of the program; please report it\n", error.what());
    return ExitCode::workload_failed;
  }
}

}  // namespace
}  // namespace roofline

int main(int argc, char** argv) { return static_cast<int>(roofline::run(argc, argv)); }
