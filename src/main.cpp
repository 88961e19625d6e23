// Parses, runs a command, and turns an error into a message and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <variant>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "host/interrupt.hpp"
#include "host/library_path.hpp"
#include "host/unfinished_file.hpp"

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
  ExitCode operator()(const MonitorCommand& command) const { return run_monitor(command, options); }
  ExitCode operator()(const HelpCommand& command) const { return run_help(command, options); }
  ExitCode operator()(const CompletionCommand& command) const { return run_completion(command, options); }
  ExitCode operator()(const DoctorCommand& command) const { return run_doctor(command, options); }
};

/// A message that needs no memory.
ExitCode without_memory() {
  std::fputs("roofline: no memory is left\n  stop other programs, or allow this one more (ulimit -v, cgroup)\n",
             stderr);
  return ExitCode::workload_failed;
}

/// Memory may be refused where nothing can be thrown any further (in a destructor, in a thread): said as well.
[[noreturn]] void end_of_memory() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    remove_unfinished_files();
    std::_Exit(static_cast<int>(without_memory()));
  } catch (...) {
    // A mistake of ours: with a core file, it can be found.
  }
  std::abort();
}

/// Runs `work`; an error is said, and is the exit code.
template <class Work>
ExitCode guarded(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const ExitCode code = interrupted() ? ExitCode::cancelled : error.exit_code();
    say_problem({error_code(code), error.what(), error.hint()}, "roofline: ");
    return code;
  } catch (const std::bad_alloc&) {
    return without_memory();
  } catch (const std::system_error& error) {
    say_problem({"system", std::string("the system refused: ") + error.what(), {}}, "roofline: ");
    return ExitCode::workload_failed;
  } catch (const std::exception& error) {
    say_problem({"internal", error.what(), "this is a mistake of the program; please report it"}, "roofline: ");
    return ExitCode::workload_failed;
  }
}

ExitCode run(int argc, char** argv) {
  Answer answer;
  const bool json = asks_for_json(argc, argv);
  if (json) answer_with(answer);
  AnswerRequest request;
  const ExitCode code = guarded([&] {
    leave_relative_library_folders(argv);
    const Options options = parse_options(argc, argv);
    request = options.answer;
    catch_interrupts();
    return std::visit(RunCommand{options}, options.command);
  });
  if (!json) return code;
  const std::string command = argv[1][0] == '-' ? "" : argv[1];
  if (command == "monitor" && code == ExitCode::ok) return code;  // its lines are the answer
  return guarded([&] {
    write_stdout(render_answer(answer, command, request, code));
    return code;
  });
}

}  // namespace
}  // namespace roofline

int main(int argc, char** argv) {
  std::set_terminate(roofline::end_of_memory);
  try {
    return static_cast<int>(roofline::run(argc, argv));
  } catch (const std::exception&) {  // what has a message could not be told
    return static_cast<int>(roofline::without_memory());
  }
}
