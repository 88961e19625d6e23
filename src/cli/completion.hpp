// What a shell may put behind what has been typed so far. The shells' scripts ask the program itself, so they know what
// it knows.
#pragma once

#include <string>
#include <vector>

#include "cli/command_tree.hpp"

namespace roofline {

struct Candidate {
  std::string word;
  std::string about;  ///< may be empty
};

/// The shell adds names of its own to the candidates.
enum class ShellNames { none, files, folders, commands };

struct Completions {
  std::vector<Candidate> candidates;
  ShellNames names = ShellNames::none;
};

/// What values stand for, found when they are needed.
struct CompletionSources {
  std::vector<Candidate> (*ops)();
  std::vector<Candidate> (*suites)();
  std::vector<Candidate> (*devices)();
  std::vector<Candidate> (*formats)();
  std::vector<Candidate> (*topics)();
};

/// `words` is what stands behind the program's name; the last one, which may be empty, is to be completed.
Completions complete(const CommandEntry& tree, const std::vector<std::string>& words, const CompletionSources& sources);

/// A candidate a line, "word<tab>about"; the last line is ":files", ":folders", ":commands" or ":none".
std::string render_completions(const Completions& completions);

/// The script for bash, zsh or fish.
std::string completion_script(const std::string& shell);

}  // namespace roofline
