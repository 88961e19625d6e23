// roofline help, roofline completion: the manual, and what shells complete.
#include <fmt/format.h>

#include <filesystem>

#include "cli/answer.hpp"
#include "cli/command_tree.hpp"
#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/manual.hpp"
#include "cli/suites.hpp"
#include "host/files.hpp"
#include "op/registry.hpp"

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

/// As the driver's files tell, without starting it: a shell waits.
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
  const CommandEntry tree = command_tree();
  std::vector<Candidate> found;
  for (const std::string& name : help_names(tree)) {
    const CommandEntry* const command = find_command(tree, name);
    found.push_back({name, command != nullptr ? command->summary : find_topic(name)->title});
  }
  return found;
}

}  // namespace

ExitCode run_help(const HelpCommand& command, const Options& options) {
  const CommandEntry tree = command_tree();
  const std::string name = command.topic.empty() ? "" : command.topic.front();
  if (!command.man_pages.empty()) {
    std::vector<std::string> names = help_names(tree);
    names.insert(names.begin(), "");
    for (const std::string& each : names) {
      const ManPage page = man_page(tree, each);
      write_file(fs::path(command.man_pages) / page.file, page.source);
    }
    return ExitCode::ok;
  }
  if (command.man) {
    print_result(man_page(tree, name).source);
  } else if (options.answer.json && name.empty()) {
    print_result(document_of(tree));
  } else {
    print_result(help_page(tree, name));
  }
  return ExitCode::ok;
}

ExitCode run_completion(const CompletionCommand& command, const Options&) {
  if (!command.shell.empty()) {
    print_result(completion_script(command.shell));
    return ExitCode::ok;
  }
  const CompletionSources sources{ops, suites, devices, format_candidates, topic_candidates};
  print_result(render_completions(complete(command_tree(), command.words, sources)));
  return ExitCode::ok;
}

}  // namespace roofline
