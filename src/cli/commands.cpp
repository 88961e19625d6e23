// The table of commands, in the order of the help.
#include "cli/commands.hpp"

#include "cli/option_values.hpp"

namespace roofline {
namespace {

constexpr CommandEntry (*kCommands[])() = {
    calibrate_command, analyze_command, profile_command, import_command,  report_command,
    show_command,      compare_command, ab_command,      bound_command,   project_command,
    new_command,       devices_command, ops_command,     machine_command, fleet_command,
    monitor_command,   doctor_command,  mcp_command,     help_command,    completion_command,
};

void add_help(CommandEntry& command, GlobalOptions& global) {
  OptionEntry help{flag(global.help)};
  help.names = {"-h", "--help"};
  help.help = "Print help and exit";
  command.options.insert(command.options.begin(), std::move(help));
}

/// Options of every command for programs that call it (`roofline help json`).
void add_answer_options(CommandEntry& command, AnswerRequest& answer) {
  command.add("--json", flag(answer.json), "Write one JSON document to stdout (roofline help json)");
  if (find_option(command, "--top") == nullptr) {
    command.add("--top", number("COUNT", answer.top, 1, 1e6),
                "With --json: keep this many rows, the most relevant first");
  }
  command.add("--fields", list("FIELD", answer.fields),
              "With --json: keep only these fields of each row, such as time_s.median,bound");
}

}  // namespace

CommandTree command_tree() {
  CommandTree tree{{"roofline", "Measure a machine's performance limits and how close kernels come to them"}};
  GlobalOptions& global = *tree.global;
  tree.add("--version", flag(global.version), "Print the version and exit");
  tree.add(
      "--color",
      one_of(global.color,
             {std::pair("auto", ColorMode::automatic), {"always", ColorMode::always}, {"never", ColorMode::never}}),
      "Colorize the output (default: auto)");
  for (const auto& command : kCommands) {
    tree.commands.push_back(command());
    add_answer_options(tree.commands.back(), global.answer);
  }
  add_help(tree, global);
  return tree;
}

}  // namespace roofline
