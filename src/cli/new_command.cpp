// roofline new kernel: writes a suite for the user's kernel next to its source file.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "host/files.hpp"
#include "host/interrupt.hpp"
#include "host/output_file.hpp"
#include "user/compile.hpp"
#include "user/first_suite.hpp"

namespace roofline {
namespace {

struct Flags {
  std::string source;  ///< of a kernel
  std::string output;  ///< the suite's file, "-" for stdout; empty: beside the source
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("source", text("FILE", flags.source), "Source file of the kernel");
  command.add("-o,--output", text("FILE", flags.output),
              "Suite file to write ('-': stdout; default: next to the source file)");
}

ExitCode run(Flags& flags, const GlobalOptions&) {
  end_at_interrupts();
  const std::filesystem::path source = flags.source;
  const std::string suite = first_suite(source, read_file(source, kSourceLimit));
  if (flags.output == "-") {
    print_text(suite);
    return ExitCode::ok;
  }
  std::filesystem::path path = flags.output;
  if (path.empty()) path = std::filesystem::path(source).replace_extension(".yaml");
  std::error_code hidden;
  if (std::filesystem::exists(path, hidden)) {
    throw UsageError(fmt::format("{} exists", path.string()), "choose another file with -o, or '-' for stdout");
  }
  if (path.parent_path() != source.parent_path()) {
    throw UsageError("the suite must be in the directory of the source file, because its path is relative",
                     "remove -o, or choose a file in that directory");
  }
  write_output(path, suite);
  print_status(fmt::format("wrote {}: fill in the entries marked \"decide\", then run: roofline analyze {}",
                           path.string(), path.string()));
  return ExitCode::ok;
}

}  // namespace

CommandEntry new_command() {
  CommandEntry command{"new", "Create a suite for your own kernel: roofline new kernel FILE"};
  command.commands.push_back(CommandRow<Flags>{
      "kernel", "Create a suite from the function signatures in a .cu, .c or .cpp file", add_options, run});
  return command;
}

}  // namespace roofline
