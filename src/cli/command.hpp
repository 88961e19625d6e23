// A command as data: its options and arguments, the variables they set, and the function that runs it. Parsing, help,
// man pages and completion all use this description.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/error.hpp"

namespace roofline {

/// --json, --top and --fields: what a program that calls roofline asks for.
struct AnswerRequest {
  bool json = false;
  std::optional<std::size_t> top;
  std::vector<std::string> fields;
};

enum class ColorMode : std::uint8_t { automatic, always, never };

/// The options that every command has, and the whole command line.
struct GlobalOptions {
  std::vector<std::string> argv;
  ColorMode color = ColorMode::automatic;
  AnswerRequest answer;
  bool help = false, version = false;
};

/// What an option takes and the variable it sets (option_values.hpp).
struct OptionValue {
  std::string value;  ///< placeholder in help, "FILE"; empty: a flag
  /// Throws UsageError, which names the option and what is accepted. A flag is given an empty text.
  std::function<void(const std::string& text, const std::string& option)> set;
  std::vector<std::string> choices = {};  ///< the only accepted words; empty: any text
  bool several = false;                   ///< may be given more than once
  bool value_optional = false;            ///< an option with choices that means the first one where none is given
};

struct OptionEntry : OptionValue {
  std::vector<std::string> names = {};  ///< "-o", "--output"; empty: a positional argument
  std::string argument = {};            ///< the name of a positional argument
  std::string help = {};
  bool required = false;
};

/// CommandEntry::rest of commands that take files after "--".
inline constexpr const char* kFilesAfterDashes = "FILE...";

struct CommandEntry {
  std::string name;  ///< "roofline", "analyze"
  std::string summary;
  std::vector<OptionEntry> options = {};  ///< and positional arguments
  std::vector<CommandEntry> commands = {};
  std::string rest = {};                            ///< placeholder for what follows "--"; empty: hidden in help
  std::vector<std::string>* rest_target = nullptr;  ///< target of the remaining arguments; null: they are positional
  std::function<void(GlobalOptions&)> finish = {};  ///< checks options against each other; throws UsageError
  std::function<ExitCode(const GlobalOptions&)> run = {};
  std::shared_ptr<void> variables = {};  ///< owner of what the options set

  /// `names`: "-o,--output"; "file" for a required positional argument, "[file]" for an optional one.
  void add(const std::string& names, OptionValue value, std::string help);
};

/// The row that each command's file defines. `Flags` holds the variables that its options set.
template <class Flags>
struct CommandRow {
  std::string name, summary;
  void (*add_options)(CommandEntry& command, Flags& flags);
  ExitCode (*run)(Flags& flags, const GlobalOptions& global);
  void (*finish)(Flags& flags, GlobalOptions& global) = nullptr;

  operator CommandEntry() const {  // NOLINT(google-explicit-constructor): a row is a command
    const auto flags = std::make_shared<Flags>();
    CommandEntry entry{name, summary};
    entry.variables = flags;
    if (add_options != nullptr) add_options(entry, *flags);
    entry.run = [variables = flags.get(), run = run](const GlobalOptions& global) { return run(*variables, global); };
    if (finish != nullptr) {
      entry.finish = [variables = flags.get(), finish = finish](GlobalOptions& global) { finish(*variables, global); };
    }
    return entry;
  }
};

/// The command of that name, or null.
const CommandEntry* find_command(const CommandEntry& tree, const std::string& name);

/// The option of that name, or null.
const OptionEntry* find_option(const CommandEntry& command, const std::string& name);

/// The positional argument at that place, or null; a last one that may be given several times is at all later places.
const OptionEntry* argument_at(const CommandEntry& command, std::size_t place);

/// The program with all of its commands, and what their common options set.
struct CommandTree : CommandEntry {
  std::shared_ptr<GlobalOptions> global = std::make_shared<GlobalOptions>();
};

/// Parses a command line into the variables of `tree`, calls finish() of the chosen command, and returns what is to be
/// run, which uses `tree`. Throws UsageError with a hint: the nearest name, or the command's help.
std::function<ExitCode()> parse_command_line(CommandTree& tree, int argc, const char* const* argv);

}  // namespace roofline
