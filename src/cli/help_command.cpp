// roofline help and roofline completion: the manual, and completion for shells.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/manual.hpp"
#include "cli/option_values.hpp"
#include "cli/suites.hpp"
#include "host/files.hpp"
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

nlohmann::ordered_json json_of(const CommandEntry& command) {
  using Json = nlohmann::ordered_json;
  Json json = {{"name", command.name}, {"summary", command.summary}, {"options", Json::array()}};
  for (const OptionEntry& option : command.options) {
    Json entry = {
        {"names", option.names}, {"help", option.help}, {"required", option.required}, {"several", option.several}};
    if (!option.argument.empty()) entry["argument"] = option.argument;
    if (!option.value.empty()) entry["value"] = option.value;
    if (!option.choices.empty()) entry["choices"] = option.choices;
    json["options"].push_back(std::move(entry));
  }
  if (!command.commands.empty()) json["commands"] = Json::array();
  for (const CommandEntry& below : command.commands) json["commands"].push_back(json_of(below));
  return json;
}

nlohmann::ordered_json document_of(const CommandEntry& tree) {
  nlohmann::ordered_json document = {{"schema", "roofline.help/1"}};
  document.update(json_of(tree));
  return document;
}

struct HelpFlags {
  std::vector<std::string> topic;  ///< name of a command or topic; empty: an overview
  bool man = false;                ///< print the source of a man page
  std::string man_pages;           ///< directory to write all man pages to; empty: none
};

void add_help_options(CommandEntry& command, HelpFlags& flags) {
  command.add("[topic]", words("TOPIC", flags.topic), "Command or topic (default: an overview)");
  command.add("--man", flag(flags.man), "Print the source of the man page");
  command.add("--man-pages", text("DIR", flags.man_pages), "Write all man pages to this directory");
}

ExitCode run_help(HelpFlags& flags, const GlobalOptions&) {
  const CommandTree tree = command_tree();
  const std::string name = flags.topic.empty() ? "" : flags.topic.front();
  if (!flags.man_pages.empty()) {
    std::vector<std::string> names = help_names(tree);
    names.insert(names.begin(), "");
    for (const std::string& each : names) {
      const ManPage page = man_page(tree, each);
      write_file(fs::path(flags.man_pages) / page.file, page.source);
    }
    return ExitCode::ok;
  }
  print_result([&] { return name.empty() && !flags.man ? document_of(tree) : nlohmann::ordered_json(); },
               [&] { return flags.man ? man_page(tree, name).source : help_page(tree, name); });
  return ExitCode::ok;
}

struct CompletionFlags {
  std::string shell;               ///< shell to print the script for; empty: complete `words`
  std::vector<std::string> words;  ///< the command line after `roofline`; the last word is to be completed
};

void add_completion_options(CommandEntry& command, CompletionFlags& flags) {
  command.add("[shell]", one_of(flags.shell, {"bash", "zsh", "fish"}), "Shell to print the script for");
  command.rest_target = &flags.words;
}

void finish_completion(CompletionFlags& flags, GlobalOptions&) {
  if (!flags.shell.empty() || !flags.words.empty()) return;
  throw UsageError("no shell given", "use bash, zsh or fish; see: roofline help completion");
}

ExitCode run_completion(CompletionFlags& flags, const GlobalOptions&) {
  const CompletionSources sources{ops, suites, devices, format_candidates, topic_candidates};
  print_text(flags.shell.empty() ? render_completions(complete(command_tree(), flags.words, sources))
                                 : completion_script(flags.shell));
  return ExitCode::ok;
}

}  // namespace

CommandEntry help_command() {
  return CommandRow<HelpFlags>{"help", "Show the manual of a command or topic", add_help_options, run_help};
}

CommandEntry completion_command() {
  return CommandRow<CompletionFlags>{"completion", "Print a shell completion script", add_completion_options,
                                     run_completion, finish_completion};
}

}  // namespace roofline
