// Parses the command line, runs a command, and turns errors into messages and exit codes.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "host/interrupt.hpp"
#include "host/library_path.hpp"
#include "host/unfinished_file.hpp"
#include "host/usual_stack.hpp"

namespace roofline {
namespace {

/// Prints a message without allocating memory.
ExitCode without_memory() {
  std::fputs("roofline: out of memory\n  stop other programs, or raise the memory limit (ulimit -v, cgroup)\n", stderr);
  return ExitCode::workload_failed;
}

thread_local bool memory_was_refused = false;

[[noreturn]] void refuse_memory() {
  memory_was_refused = true;
  throw std::bad_alloc();
}

/// Allocation can also fail where exceptions end the process (destructors, threads, noexcept functions of libraries).
[[noreturn]] void end_of_memory() {
  const auto end = [] {
    remove_unfinished_files();
    std::_Exit(static_cast<int>(without_memory()));
  };
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end();
  } catch (...) {
    std::abort();  // a bug: this leaves a core file to find it
  }
  // GCC may call this before the exception that a noexcept function must not throw counts as caught.
  if (std::uncaught_exceptions() > 0 && memory_was_refused) end();
  std::abort();
}

/// Runs `work`; prints an error and returns its exit code.
template <class Work>
ExitCode guarded(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const ExitCode code = interrupted() ? ExitCode::cancelled : error.exit_code();
    print_problem({error_code(code), error.what(), error.hint()}, "roofline: ");
    return code;
  } catch (const std::bad_alloc&) {
    return without_memory();
  } catch (const std::system_error& error) {
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
    print_problem({"system", std::string("system error: ") + error.what(),
                   no_thread ? "a thread needs more memory or processes: raise the limit (ulimit -v, ulimit -u)" : ""},
                  "roofline: ");
    return ExitCode::workload_failed;
  } catch (const std::exception& error) {
    print_problem({"internal", error.what(), "this is a bug; please report it"}, "roofline: ");
    return ExitCode::workload_failed;
  }
}

ExitCode run(int argc, char** argv) {
  Answer answer;
  const bool json = asks_for_json(argc, argv);
  const std::string command = json && argv[1][0] != '-' ? argv[1] : "";
  CommandTree tree = command_tree();
  std::string at_interrupt;
  if (json) {
    answer_with(answer);
    const Problem interrupt = {error_code(ExitCode::cancelled), "interrupted: there is no result", "run it again"};
    at_interrupt = render_answer({.errors = {interrupt}}, command, {}, ExitCode::cancelled);
    set_interrupt_answer(at_interrupt.c_str());
  }
  const ExitCode code = guarded([&] {
    leave_relative_library_folders(argv);
    const auto work = parse_command_line(tree, argc, argv);
    catch_interrupts();
    return work();
  });
  set_interrupt_answer(nullptr);
  if (!json) return code;
  if (command == "monitor" && code == ExitCode::ok) return code;  // its lines are the output
  return guarded([&] {
    write_stdout(render_answer(std::move(answer), command, tree.global->answer, code));
    return code;
  });
}

}  // namespace
}  // namespace roofline

int main(int argc, char** argv) {
  std::set_new_handler(roofline::refuse_memory);
  std::set_terminate(roofline::end_of_memory);
  const int code = roofline::with_usual_stack([&] {
    try {
      return static_cast<int>(roofline::run(argc, argv));
    } catch (const std::exception&) {  // even printing the message failed
      return -1;
    }
  });
  return code < 0 ? static_cast<int>(roofline::without_memory()) : code;
}
