// roofline completion: scripts for shells, and the candidates that these scripts ask for.
#include "cli/completion.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/manual.hpp"
#include "cli/option_values.hpp"
#include "cli/suites.hpp"
#include "op/registry.hpp"
#include "render/formats.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

std::vector<Candidate> ops() {
  std::vector<Candidate> found;
  for (const Op* op : all_ops()) found.push_back({std::string(op->name()), std::string(op->summary())});
  return found;
}

std::vector<Candidate> suites() {
  std::vector<Candidate> found;
  for (const KnownSuite& suite : own_suites()) found.push_back({suite.name, ""});
  return found;
}

/// GPUs as the driver lists them in /proc: starting CUDA would delay the shell.
std::vector<Candidate> devices() {
  std::vector<Candidate> found = {{"cpu", "this machine's CPU"}, {"cuda", "the first GPU"}};
  std::error_code hidden;
  std::vector<fs::path> gpus;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", hidden)) {
    gpus.push_back(entry.path());
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) found.push_back({fmt::format("cuda:{}", i), "a GPU"});
  return found;
}

std::vector<Candidate> format_candidates() {
  std::vector<Candidate> found;
  for (const Format& format : formats()) found.push_back({std::string(format.name), std::string(format.file)});
  return found;
}

std::vector<Candidate> topic_candidates() {
  const CommandTree tree = command_tree();
  std::vector<Candidate> found;
  for (const std::string& name : help_names(tree)) {
    const CommandEntry* const command = find_command(tree, name);
    found.push_back({name, command != nullptr ? command->summary : find_topic(name)->title});
  }
  return found;
}

struct Flags {
  std::string shell;               ///< shell to print the script for; empty: complete `words`
  std::vector<std::string> words;  ///< the command line after `roofline`; the last word is to be completed
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("[shell]", one_of(flags.shell, {"bash", "zsh", "fish"}), "Shell to print the script for");
  command.rest_target = &flags.words;
}

void finish(Flags& flags, GlobalOptions&) {
  if (!flags.shell.empty() || !flags.words.empty()) return;
  throw UsageError("no shell given", "use bash, zsh or fish; see: roofline help completion");
}

ExitCode run(Flags& flags, const GlobalOptions&) {
  const CompletionSources sources{ops, suites, devices, format_candidates, topic_candidates};
  print_text(flags.shell.empty() ? render_completions(complete(command_tree(), flags.words, sources))
                                 : completion_script(flags.shell));
  return ExitCode::ok;
}

}  // namespace

CommandEntry completion_command() {
  return CommandRow<Flags>{"completion", "Print a shell completion script", add_options, run, finish};
}

}  // namespace roofline
