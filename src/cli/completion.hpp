// Shell completion. The scripts call the program itself, so they always offer its current commands and
// options.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace roofline {

struct Candidate {
  std::string word;
  std::string about;  ///< may be empty
};

/// Which names the shell adds to the candidates.
enum class ShellNames { none, files, folders, commands };

struct Completions {
  std::vector<Candidate> candidates;
  ShellNames names = ShellNames::none;
};

/// Candidates for the values of options, computed on demand.
struct CompletionSources {
  std::vector<Candidate> (*ops)();
  std::vector<Candidate> (*suites)();
  std::vector<Candidate> (*devices)();
  std::vector<Candidate> (*formats)();
  std::vector<Candidate> (*topics)();
};

/// `words` is the command line after the program's name; the last word, which may be empty, is to be completed.
Completions complete(const CommandEntry& tree, const std::vector<std::string>& words, const CompletionSources& sources);

/// One candidate per line, "word<tab>about"; the last line is ":files", ":folders", ":commands" or ":none".
std::string render_completions(const Completions& completions);

/// The script for bash, zsh or fish.
std::string completion_script(const std::string& shell);

}  // namespace roofline
