// argv → the variables of a command. Long options as --name VALUE or --name=VALUE, short ones as -o VALUE or -oVALUE;
// options may stand before and after positional arguments, and those of the program anywhere.
#include "cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cli/console.hpp"
#include "cli/manual.hpp"
#include "cli/option_values.hpp"
#include "cli/row_fields.hpp"
#include "model/find.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

/// Options of other tools, and what they are called here: the first one that the command has.
struct Synonym {
  std::string_view other, own;
};
constexpr Synonym kSynonyms[] = {
    {"--time", "--window"}, {"--time", "--max-time"}, {"--duration", "--window"}, {"--duration", "--max-time"}};

/// The option of the command for another tool's word; empty if there is none.
std::string_view own_option(const CommandEntry& command, const std::string& other) {
  for (const Synonym& one : kSynonyms) {
    if (one.other == other && find_option(command, std::string(one.own)) != nullptr) return one.own;
  }
  return {};
}

class Parser {
 public:
  Parser(CommandTree& tree, std::vector<std::string> words) : tree_(tree), words_(std::move(words)) {}

  /// The chosen command.
  const CommandEntry& parse() {
    while (at_ < words_.size() && !tree_.global->help && !tree_.global->version) {
      const std::string word = words_[at_++];
      const bool is_option = word.size() > 1 && word.front() == '-' && !only_arguments_;
      if (word == "--" && !only_arguments_) {
        end_options();
      } else if (is_option) {
        take_option(word);
      } else if (const CommandEntry* command = find_command(*chosen_.back(), word)) {
        chosen_.push_back(command);
      } else {
        take_argument(word);
      }
    }
    if (!tree_.global->help && !tree_.global->version) require_all();
    return *chosen_.back();
  }

  /// The chosen command as the manual names it; empty: none.
  std::string topic() const { return chosen_.size() < 2 ? "" : chosen_[1]->name; }
  /// As a user types it.
  std::string called() const { return topic().empty() ? "roofline" : "roofline " + topic(); }

 private:
  void end_options() {
    std::vector<std::string>* const rest = chosen_.back()->rest_target;
    only_arguments_ = true;
    if (rest == nullptr) return;
    rest->assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    at_ = words_.size();
  }

  const OptionEntry* option_of(const std::string& name) const {
    for (auto command = chosen_.rbegin(); command != chosen_.rend(); ++command) {
      if (const OptionEntry* option = find_option(**command, name)) return option;
    }
    return nullptr;
  }

  void take_option(const std::string& word) {
    const bool is_long = word.starts_with("--");
    const std::size_t end = is_long ? word.find('=') : std::min<std::size_t>(2, word.size());
    const std::string name = word.substr(0, end);
    const OptionEntry* const option = option_of(name);
    if (option == nullptr) refuse(word, name);
    std::optional<std::string> text;
    if (end < word.size()) text = word.substr(end + (is_long ? 1 : 0));
    if (option->value.empty()) {
      if (text) throw UsageError(fmt::format("{} takes no value", name));
      text = "";
    } else if (!text && option->value_optional) {
      const bool is_value =
          at_ < words_.size() && std::count(option->choices.begin(), option->choices.end(), words_[at_]) > 0;
      text = is_value ? words_[at_++] : option->choices.front();
    } else if (!text) {
      if (at_ == words_.size()) throw UsageError(fmt::format("{} requires a value: {}", name, option->value));
      text = words_[at_++];
    }
    set(*option, *text, name);
  }

  void take_argument(const std::string& word) {
    const CommandEntry& command = *chosen_.back();
    if (!command.commands.empty()) {
      std::vector<std::string> names;
      for (const CommandEntry& below : command.commands) names.push_back(below.name);
      throw UsageError(fmt::format("unknown command '{}'", word), nearest_hint(word, names, called() + " --help"));
    }
    const OptionEntry* const argument = argument_at(command, arguments_);
    if (argument == nullptr) refuse(word, word);
    ++arguments_;
    set(*argument, word, argument->argument);
  }

  void set(const OptionEntry& option, const std::string& text, const std::string& name) {
    const bool again = !given_.insert(&option).second;
    if (again && !option.several && !option.value.empty()) throw UsageError(fmt::format("{} given twice", name));
    option.set(text, name);
  }

  [[noreturn]] void refuse(const std::string& word, const std::string& name) const {
    std::vector<std::string> flags;
    for (const OptionEntry& option : chosen_.back()->options) {
      if (!option.names.empty()) flags.push_back(option.names.back());
    }
    if (!word.starts_with('-') && chosen_.back()->rest_target != nullptr) {
      const auto here = words_.begin() + static_cast<std::ptrdiff_t>(at_) - 1;
      throw UsageError(
          fmt::format("a program and its arguments come after --, not '{}'", word),
          fmt::format("roofline {} -- {}", fmt::join(words_.begin(), here, " "), fmt::join(here, words_.end(), " ")));
    }
    const std::string help = called() + " --help";
    const std::string_view own = own_option(*chosen_.back(), name);
    throw UsageError(
        fmt::format("{} '{}'", word.starts_with('-') ? "unknown option" : "unexpected argument", word),
        own.empty() ? nearest_hint(name, flags, help) : fmt::format("did you mean '{}'? (see: {})", own, help));
  }

  void require_all() const {
    const CommandEntry& command = *chosen_.back();
    const std::string usage = fmt::format("usage: {} (see: {} --help)", usage_of(tree_, command), called());
    if (&command == &tree_) throw UsageError("no command given");
    if (!command.commands.empty()) throw UsageError("no command given", usage);
    for (const OptionEntry& option : command.options) {
      if (option.required && !given_.contains(&option)) {
        throw UsageError(fmt::format("missing argument {}", option.value), usage);
      }
    }
  }

  CommandTree& tree_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
  std::vector<const CommandEntry*> chosen_ = {&tree_};  ///< the program, its command, and what is below that
  std::size_t arguments_ = 0;                           ///< positional ones so far
  bool only_arguments_ = false;
  std::set<const OptionEntry*> given_;
};

}  // namespace

void CommandEntry::add(const std::string& names_, OptionValue value, std::string help) {
  OptionEntry option{std::move(value)};
  option.help = std::move(help);
  if (names_.front() == '-') {
    option.names = split(names_, ',');
  } else {
    option.required = names_.front() != '[';
    option.argument = option.required ? names_ : names_.substr(1, names_.size() - 2);
  }
  options.push_back(std::move(option));
}

const CommandEntry* find_command(const CommandEntry& tree, const std::string& name) {
  return find_by(tree.commands, &CommandEntry::name, name);
}

const OptionEntry* find_option(const CommandEntry& command, const std::string& name) {
  return find_in(command.options, [&](const OptionEntry& option) { return contains(option.names, name); });
}

const OptionEntry* argument_at(const CommandEntry& command, std::size_t place) {
  const OptionEntry* last = nullptr;
  for (const OptionEntry& option : command.options) {
    if (!option.names.empty()) continue;
    if (place == 0) return &option;
    --place;
    last = option.several ? &option : nullptr;
  }
  return last;
}

std::function<ExitCode()> parse_command_line(CommandTree& tree, int argc, const char* const* argv) {
  GlobalOptions& global = *tree.global;
  global.argv.assign(argv, argv + argc);
  Parser parser(tree, {argv + 1, argv + argc});
  const auto print = [](const std::string& text) {
    return [text] {
      print_text(text);
      return ExitCode::ok;
    };
  };
  try {
    const CommandEntry& command = parser.parse();
    if (global.version) return print("roofline " ROOFLINE_VERSION "\n");
    if (global.help) return print(help_page(tree, parser.topic()));
    if (!global.answer.json && (global.answer.top || !global.answer.fields.empty())) {
      throw UsageError(fmt::format("{} requires --json", global.answer.top ? "--top" : "--fields"), "add --json");
    }
    require_fields(command.name, global.answer.fields);
    if (command.finish) command.finish(global);
    return [&command, &global] { return command.run(global); };
  } catch (const UsageError& error) {
    if (!error.hint().empty()) throw;
    throw UsageError(error.what(), fmt::format("see: {} --help", parser.called()));
  }
}

}  // namespace roofline
