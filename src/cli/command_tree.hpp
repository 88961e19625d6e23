// The commands as plain data, from what the command line itself is parsed by: help, man pages and completion are made
// of it.
#pragma once

#include <string>
#include <vector>

namespace roofline {

struct OptionEntry {
  std::vector<std::string> names;    ///< "-o", "--output"; empty: an argument that is known by its place
  std::string argument;              ///< that one's name
  std::string value;                 ///< what it takes, "FILE"; empty: nothing
  std::vector<std::string> choices;  ///< the words that it takes, where it takes no others
  bool value_optional = false;       ///< only ever of one with choices
  std::string help;
  bool required = false;
  bool several = false;
};

struct CommandEntry {
  std::string name;  ///< "roofline", "analyze"
  std::string summary;
  std::vector<OptionEntry> options;  ///< and arguments
  std::vector<CommandEntry> commands;
};

CommandEntry command_tree();

/// The command of that name, or null.
const CommandEntry* find_command(const CommandEntry& tree, const std::string& name);

}  // namespace roofline
