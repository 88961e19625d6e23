// The manual: manual.md and the options of the commands, as text for the terminal and as man pages.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace roofline {

/// A chapter of manual.md. A chapter named after a command describes that command.
struct Topic {
  std::string name, title;
  std::string text;
};

/// Topics in file order.
const std::vector<Topic>& topics();

/// The topic of that name, or null.
const Topic* find_topic(const std::string& name);

/// "roofline analyze [options] SUITE".
std::string usage_of(const CommandEntry& tree, const CommandEntry& command);

/// Names of pages: commands, then topics.
std::vector<std::string> help_names(const CommandEntry& tree);

/// A page of the manual for the terminal; empty name: the overview. Throws UsageError for an unknown name.
std::string help_page(const CommandEntry& tree, const std::string& name);

/// The page as the source of a man page: "roofline-analyze(1)", "roofline-json(7)"; empty name: "roofline(1)".
struct ManPage {
  std::string file;  ///< "roofline-analyze.1"
  std::string source;
};
ManPage man_page(const CommandEntry& tree, const std::string& name);

}  // namespace roofline
