// roofline mcp: a server of the Model Context Protocol on stdin and stdout, for programs such as coding agents.
#include <unistd.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "mcp/serve.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::vector<std::string> allowed;
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("--allow", words("PATH", flags.allowed),
              "Also use files below this path (default: only below the working directory); may be repeated");
}

void finish(Flags&, GlobalOptions& global) {
  if (global.answer.json) throw UsageError("mcp does not support --json: its messages are JSON-RPC");
}

ExitCode run(Flags& flags, const GlobalOptions&) {
  const AllowedPaths paths(fs::current_path(), flags.allowed);
  if (::isatty(STDIN_FILENO) == 1) {
    print_status("roofline mcp: waiting for messages from a client on stdin (see: roofline help mcp; Ctrl-D to end)");
  }
  std::error_code unknown;
  fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (unknown || !fs::exists(program, unknown)) program = "/proc/self/exe";  // it was replaced by a newer one
  serve_mcp(program, paths);
  return ExitCode::ok;
}

}  // namespace

CommandEntry mcp_command() {
  return CommandRow<Flags>{"mcp", "Serve coding agents over the Model Context Protocol", add_options, run, finish};
}

}  // namespace roofline
