// roofline help: the manual, man pages, and the commands and options as JSON.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/manual.hpp"
#include "cli/option_values.hpp"
#include "host/files.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

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

struct Flags {
  std::vector<std::string> topic;  ///< name of a command or topic; empty: an overview
  bool man = false;                ///< print the source of a man page
  std::string man_pages;           ///< directory to write all man pages to; empty: none
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("[topic]", words("TOPIC", flags.topic), "Command or topic (default: an overview)");
  command.add("--man", flag(flags.man), "Print the source of the man page");
  command.add("--man-pages", text("DIR", flags.man_pages), "Write all man pages to this directory");
}

ExitCode run(Flags& flags, const GlobalOptions&) {
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

}  // namespace

CommandEntry help_command() {
  return CommandRow<Flags>{"help", "Show the manual of a command or topic", add_options, run};
}

}  // namespace roofline
