// The manual: topics of manual.md and the commands' own flags, for the terminal and as man pages.
#pragma once

#include <string>
#include <vector>

#include "cli/command_tree.hpp"

namespace roofline {

/// A chapter of manual.md. One that is named like a command is that command's.
struct Topic {
  std::string name, title;
  std::string text;
};

/// In the order of the file.
const std::vector<Topic>& topics();

/// The one of that name, or null.
const Topic* find_topic(const std::string& name);

/// What may be asked for: commands, then topics.
std::vector<std::string> help_names(const CommandEntry& tree);

/// A page of the manual for the terminal; empty name: what there is. Throws UsageError for a name that it doesn't know.
std::string help_page(const CommandEntry& tree, const std::string& name);

/// The same as the source of a man page: "roofline-analyze(1)", "roofline-json(7)"; empty name: "roofline(1)".
struct ManPage {
  std::string file;  ///< "roofline-analyze.1"
  std::string source;
};
ManPage man_page(const CommandEntry& tree, const std::string& name);

}  // namespace roofline
