#include "cli/completion.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "model/find.hpp"

namespace roofline {
namespace {

/// The command line before the word to complete.
struct Typed {
  std::vector<const CommandEntry*> commands;  ///< the program, then the command and its subcommand
  const OptionEntry* waiting = nullptr;       ///< the option whose value is to be completed
  std::size_t arguments = 0;                  ///< positional arguments so far
  bool rest = false;                          ///< after "--": files, or the command line of another program
};

const OptionEntry* option_of(const Typed& typed, const std::string& name) {
  for (const CommandEntry* command : typed.commands) {
    if (const OptionEntry* option = find_option(*command, name)) return option;
  }
  return nullptr;
}

Typed understand(const CommandEntry& tree, const std::vector<std::string>& words) {
  Typed typed{{&tree}};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (const OptionEntry* option = std::exchange(typed.waiting, nullptr)) {
      const auto& choices = option->choices;
      if (!option->value_optional || contains(choices, word)) continue;
    }
    if (word == "--") {
      typed.rest = true;
      break;
    } else if (word.starts_with('-')) {
      const OptionEntry* option = word.find('=') == std::string::npos ? option_of(typed, word) : nullptr;
      if (option != nullptr && !option->value.empty()) typed.waiting = option;
    } else if (const CommandEntry* command = find_command(*typed.commands.back(), word)) {
      typed.commands.push_back(command);
    } else {
      ++typed.arguments;
    }
  }
  return typed;
}

std::vector<Candidate> prefixed(const std::vector<Candidate>& candidates, const std::string& prefix) {
  std::vector<Candidate> with;
  for (const Candidate& candidate : candidates) with.push_back({prefix + candidate.word, candidate.about});
  return with;
}

/// Candidates for the value of an option or argument. `word` is the part of the value typed so far; of a list, as in
/// "png,s", its last element is completed.
Completions values_of(const OptionEntry& option, const std::string& word, const CompletionSources& sources) {
  if (!option.choices.empty()) {
    Completions choices;
    for (const std::string& choice : option.choices) choices.candidates.push_back({choice, ""});
    return choices;
  }
  if (option.value == "DEVICES") {
    Completions devices{sources.devices(), ShellNames::none};
    devices.candidates.insert(devices.candidates.begin(), {"all", "every GPU and the CPU"});
    return devices;
  }
  if (option.value == "DEVICE") return {sources.devices(), ShellNames::none};
  if (option.value == "SUITE") return {sources.suites(), ShellNames::files};
  if (option.value == "OP") return {sources.ops(), ShellNames::none};
  if (option.value == "TOPIC") return {sources.topics(), ShellNames::none};
  if (option.value == "FORMAT") {
    const std::size_t comma = word.rfind(',');
    return {prefixed(sources.formats(), comma == std::string::npos ? "" : word.substr(0, comma + 1)), ShellNames::none};
  }
  if (option.value == "FILE" || option.value == "PATH") return {{}, ShellNames::files};
  if (option.value == "DIR") return {{}, ShellNames::folders};
  return {};
}

void add_flags(const Typed& typed, std::vector<Candidate>& candidates) {
  for (const CommandEntry* command : typed.commands) {
    for (const OptionEntry& option : command->options) {
      // Flags of the program such as --version are not offered after a command.
      const bool elsewhere = command != typed.commands.back() && option.value.empty();
      if (!option.names.empty() && !elsewhere) candidates.push_back({option.names.back(), option.help});
    }
  }
}

}  // namespace

namespace {

/// Candidates where no option expects a value: options, arguments or commands.
Completions next_word(const Typed& typed, const std::string& word, const CompletionSources& sources) {
  Completions found;
  if (word.starts_with('-')) {
    add_flags(typed, found.candidates);
  } else if (const OptionEntry* argument = argument_at(*typed.commands.back(), typed.arguments)) {
    found = values_of(*argument, word, sources);
  } else {
    for (const CommandEntry& command : typed.commands.back()->commands) {
      found.candidates.push_back({command.name, command.summary});
    }
  }
  return found;
}

}  // namespace

Completions complete(const CommandEntry& tree, const std::vector<std::string>& words,
                     const CompletionSources& sources) {
  const std::string word = words.empty() ? "" : words.back();
  const Typed typed = understand(tree, words);
  Completions found;
  if (typed.rest) {
    const bool files = typed.commands.back()->rest == kFilesAfterDashes;
    return {{}, files ? ShellNames::files : ShellNames::commands};
  }
  const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  if (typed.waiting != nullptr) {
    found = values_of(*typed.waiting, word, sources);
    if (typed.waiting->value_optional) {
      Completions others = next_word(typed, word, sources);
      found.names = others.names;
      std::move(others.candidates.begin(), others.candidates.end(), std::back_inserter(found.candidates));
    }
  } else if (equals != std::string::npos) {
    if (const OptionEntry* option = option_of(typed, word.substr(0, equals))) {
      found = values_of(*option, word.substr(equals + 1), sources);
      found.candidates = prefixed(found.candidates, word.substr(0, equals + 1));
    }
  } else {
    found = next_word(typed, word, sources);
  }
  std::erase_if(found.candidates, [&](const Candidate& candidate) { return !candidate.word.starts_with(word); });
  return found;
}

std::string render_completions(const Completions& completions) {
  std::string text;
  for (const Candidate& candidate : completions.candidates) {
    text += candidate.about.empty() ? candidate.word : fmt::format("{}\t{}", candidate.word, candidate.about);
    text += '\n';
  }
  switch (completions.names) {
    case ShellNames::files:
      return text + ":files\n";
    case ShellNames::folders:
      return text + ":folders\n";
    case ShellNames::commands:
      return text + ":commands\n";
    case ShellNames::none:
      break;
  }
  return text + ":none\n";
}

std::string completion_script(const std::string& shell) {
  if (shell == "zsh") {
    return R"(#compdef roofline
_roofline() {
  local -a answer words_so_far candidates
  local line word about
  words_so_far=("${(@)words[2,CURRENT]}")
  answer=("${(@f)$("${words[1]}" completion -- "${(@Q)words_so_far}" 2>/dev/null)}")
  for line in "${(@)answer[1,-2]}"; do
    word=${line%%$'\t'*} about=${line#*$'\t'}
    if [[ $about == $line ]]; then candidates+=("${word//:/\\:}"); else candidates+=("${word//:/\\:}:$about"); fi
  done
  (( $#candidates )) && _describe roofline candidates
  case ${answer[-1]} in
    :files) _files ;;
    :folders) _files -/ ;;
    :commands) _command_names -e ;;
  esac
}
if [[ $funcstack[1] == _roofline ]]; then _roofline "$@"; else compdef _roofline roofline; fi
)";
  }
  if (shell == "fish") {
    return R"(function __roofline_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] completion -- $words[2..-1] 2>/dev/null)
    set -l word (commandline -ct)
    test (count $answer) -gt 1; and printf '%s\n' $answer[1..-2]
    switch "$answer[-1]"
        case :files
            __fish_complete_path $word
        case :folders
            __fish_complete_directories $word
        case :commands
            __fish_complete_command
    end
end
complete -c roofline -f -a '(__roofline_complete)'
)";
  }
  // bash splits words at ':' and '=', which device names and option values contain. So the script splits the line
  // itself and removes from each candidate the part before the last separator.
  return R"(_roofline() {
  local line=${COMP_LINE:0:COMP_POINT} words answer names word left
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  mapfile -t answer < <("${words[0]}" completion -- "${words[@]:1}" 2>/dev/null)
  (( ${#answer[@]} )) || return
  word=${words[${#words[@]}-1]} names=${answer[${#answer[@]}-1]}
  unset 'answer[${#answer[@]}-1]'
  left=${word%"${word##*[:=]}"}
  COMPREPLY=("${answer[@]%%$'\t'*}")
  COMPREPLY=("${COMPREPLY[@]#"$left"}")
  case $names in
    :files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${word#"$left"}"); compopt -o filenames ;;
    :folders) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${word#"$left"}"); compopt -o filenames ;;
    :commands) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$word") ;;
  esac
}
complete -F _roofline roofline
)";
}

}  // namespace roofline
