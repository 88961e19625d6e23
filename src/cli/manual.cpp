// `roofline help` and the man pages, both from manual.md and the command tree.
#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/option_values.hpp"
#include "model/error.hpp"
#include "model/find.hpp"
#include "render/terminal/table.hpp"
#include "text/text.hpp"

extern "C" const char roofline_manual_begin[], roofline_manual_end[];

namespace roofline {
namespace {

constexpr int kWidth = 80;                     // columns of a page in the terminal
constexpr const char* kOverview = "overview";  // the chapter of roofline(1)

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// "# json: JSON output for programs" starts the chapter of a topic, "# analyze" that of a command.
std::vector<Topic> parse_manual(std::string_view text) {
  std::vector<Topic> found;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("# ")) {
      const std::size_t colon = std::min(line.find(": "), line.size());
      found.push_back(
          {std::string(line.substr(2, colon - 2)), std::string(line.substr(std::min(colon + 2, line.size()))), {}});
    } else if (!found.empty() && !(found.back().text.empty() && line.empty())) {
      found.back().text += fmt::format("{}\n", line);
    }
  }
  for (Topic& topic : found) topic.text.erase(topic.text.find_last_not_of('\n') + 2);
  return found;
}

/// "-o, --output PATH", "SUITE".
std::string form_of(const OptionEntry& option) {
  if (option.names.empty()) return option.value + (option.several ? "..." : "");
  const std::string value = option.choices.empty() ? option.value : fmt::format("{}", fmt::join(option.choices, "|"));
  const std::string shown = option.value_optional ? "[" + value + "]" : value;
  return fmt::format("{}{}{}", fmt::join(option.names, ", "), shown.empty() ? "" : " ", shown);
}

void add_entry(std::string& page, const std::string& left, const std::string& right) {
  constexpr std::size_t kColumn = 26;
  const std::string head = "  " + left;
  const bool beside = head.size() + 2 <= kColumn;
  if (!beside) page += head + "\n";
  page += wrapped(fmt::format("{:<{}}", beside ? head : "", kColumn), right, {.columns = kWidth});
}

void add_options(std::string& page, const CommandEntry& command) {
  for (const CommandEntry& below : command.commands) add_options(page, below);
  for (const OptionEntry& option : command.options) add_entry(page, form_of(option), option.help);
}

/// Without the marks for bold text.
std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '`') continue;
    if (line.substr(i, 2) == "**") {
      ++i;
      continue;
    }
    text += line[i];
  }
  return text;
}

/// Prose is filled to the width of a page; examples stay as they are.
std::string terminal_text(const std::string& text) {
  std::string page, mark, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) page += wrapped(mark, paragraph, {.columns = kWidth});
    paragraph.clear();
  };
  for (const std::string_view line : lines_of(text)) {
    const bool item = line.starts_with("- "), heading = line.starts_with("## ");
    const bool verbatim = line.empty() || line.starts_with("    ") || heading;
    if (verbatim || item) end_paragraph();
    if (verbatim) {
      page += (heading ? std::string(line.substr(3)) + ":" : std::string(line)) + "\n";
      continue;
    }
    if (paragraph.empty()) mark = item ? "- " : "";
    paragraph += (paragraph.empty() ? "" : " ") + plain(line.substr(item ? 2 : line.find_first_not_of(' ')));
  }
  end_paragraph();
  return page;
}

/// True if a chapter is neither that of a command nor the overview.
bool is_topic(const CommandEntry& tree, const Topic& topic) {
  return topic.name != kOverview && find_command(tree, topic.name) == nullptr;
}

std::string title(const std::string& name, const std::string& summary) {
  return wrapped("", fmt::format("{}: {}", name, summary), {.columns = kWidth});
}

std::string overview(const CommandEntry& tree) {
  std::string page = title("roofline", tree.summary) +
                     fmt::format("\nUsage: {}\n\nCommands (roofline help COMMAND):\n", usage_of(tree, tree));
  for (const CommandEntry& command : tree.commands) add_entry(page, command.name, command.summary);
  page += "\nTopics (roofline help TOPIC):\n";
  for (const Topic& topic : topics()) {
    if (is_topic(tree, topic)) add_entry(page, topic.name, topic.title);
  }
  page += "\nOptions:\n";
  for (const OptionEntry& option : tree.options) add_entry(page, form_of(option), option.help);
  return page + "\n" + terminal_text(find_topic(kOverview)->text);
}

/// Escapes troff's special characters, and hyphens so that they can be copied.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

/// Words in `backquotes` and **asterisks** are bold.
std::string troff_line(std::string_view line) {
  std::string out, word;
  bool bold = false;
  const auto flush = [&] {
    if (!word.empty()) out += bold ? fmt::format("\\fB{}\\fR", escaped(word)) : escaped(word);
    word.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool stars = line.substr(i, 2) == "**";
    if (line[i] == '`' || stars) {
      flush();
      bold = !bold;
      i += stars ? 1 : 0;
    } else {
      word += line[i];
    }
  }
  flush();
  return out;
}

std::string troff_text(const std::string& text) {
  std::string source;
  bool example = false, gap = true;
  for (const std::string_view line : lines_of(text)) {
    const bool is_example = line.starts_with("    ");
    if (is_example != example && !(example && line.empty())) {
      source += is_example ? ".RS 4\n.nf\n" : ".fi\n.RE\n";
      if (!is_example) gap = true;
      example = is_example;
    }
    if (line.empty()) {
      gap = true;
      if (example) source += "\n";
    } else if (is_example) {
      source += escaped(line.substr(4)) + "\n";
    } else if (line.starts_with("## ")) {
      source += fmt::format(".SH {}\n", upper_case(escaped(line.substr(3))));
      gap = false;
    } else if (line.starts_with("- ")) {
      source += fmt::format(".IP \\(bu 2\n{}\n", troff_line(line.substr(2)));
      gap = false;
    } else {
      if (gap) source += ".PP\n";
      gap = false;
      const std::size_t first = line.find_first_not_of(' ');
      source += troff_line(line.substr(first)) + "\n";
    }
  }
  if (example) source += ".fi\n.RE\n";
  return source;
}

std::string troff_options(const CommandEntry& command) {
  std::string source;
  for (const CommandEntry& below : command.commands) source += troff_options(below);
  for (const OptionEntry& option : command.options) {
    source += fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(form_of(option)), escaped(option.help));
  }
  return source;
}

std::string head_of(const std::string& page, int section, const std::string& summary) {
  return fmt::format(".TH {} {} \"\" \"roofline {}\" \"{}\"\n.SH NAME\n{} \\- {}\n", upper_case(escaped(page)), section,
                     ROOFLINE_VERSION, section == 1 ? "User Commands" : "Miscellaneous", escaped(page),
                     escaped(summary));
}

std::string see_also(const CommandEntry& tree, const std::string& but) {
  std::vector<std::string> pages;
  if (!but.empty()) pages.emplace_back("\\fBroofline\\fR(1)");
  for (const std::string& name : help_names(tree)) {
    const int section = find_command(tree, name) != nullptr ? 1 : 7;
    if (name != but) pages.push_back(fmt::format("\\fBroofline\\-{}\\fR({})", escaped(name), section));
  }
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

}  // namespace

std::string usage_of(const CommandEntry& tree, const CommandEntry& command) {
  if (&tree == &command) return "roofline COMMAND [options]";
  std::string usage = "roofline";
  for (const CommandEntry& above : tree.commands) {
    const bool holds = std::any_of(above.commands.begin(), above.commands.end(),
                                   [&](const CommandEntry& below) { return &below == &command; });
    if (holds) usage += " " + above.name;
  }
  usage += " " + command.name;
  for (const CommandEntry& below : command.commands) usage += " " + below.name;
  usage += " [options]";
  for (const OptionEntry& option : command.commands.empty() ? command.options : command.commands.front().options) {
    if (!option.names.empty()) continue;
    usage += option.required ? " " + form_of(option) : fmt::format(" [{}]", form_of(option));
  }
  if (!command.rest.empty()) usage += " -- " + command.rest;
  return usage;
}

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = parse_manual({roofline_manual_begin, roofline_manual_end});
  return all;
}

const Topic* find_topic(const std::string& name) { return find_by(topics(), &Topic::name, name); }

std::vector<std::string> help_names(const CommandEntry& tree) {
  std::vector<std::string> names;
  for (const CommandEntry& command : tree.commands) names.push_back(command.name);
  for (const Topic& topic : topics()) {
    if (is_topic(tree, topic)) names.push_back(topic.name);
  }
  return names;
}

std::string help_page(const CommandEntry& tree, const std::string& name) {
  if (name.empty()) return overview(tree);
  const CommandEntry* const command = find_command(tree, name);
  const Topic* const topic = find_topic(name);
  if (command == nullptr && topic == nullptr) {
    throw UsageError(fmt::format("no manual page for '{}'", name),
                     nearest_hint(name, help_names(tree), "roofline help"));
  }
  if (command == nullptr) return title(name, topic->title) + "\n" + terminal_text(topic->text);
  std::string page = title("roofline " + name, command->summary) + "\nUsage: " + usage_of(tree, *command) + "\n";
  if (topic != nullptr) page += "\n" + terminal_text(topic->text);
  page += "\nOptions:\n";
  add_options(page, *command);
  return page;
}

ManPage man_page(const CommandEntry& tree, const std::string& name) {
  const CommandEntry* const command = name.empty() ? &tree : find_command(tree, name);
  const Topic* const topic = find_topic(name.empty() ? kOverview : name);
  const std::string page = name.empty() ? "roofline" : "roofline-" + name;
  if (command == nullptr) {
    if (topic == nullptr) static_cast<void>(help_page(tree, name));  // throws
    return {page + ".7",
            head_of(page, 7, topic->title) + ".SH DESCRIPTION\n" + troff_text(topic->text) + see_also(tree, name)};
  }
  std::string source = head_of(page, 1, command->summary);
  source += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR\n.SH DESCRIPTION\n", escaped(usage_of(tree, *command)));
  source += topic != nullptr ? troff_text(topic->text) : fmt::format("{}\n", escaped(command->summary));
  if (name.empty()) {
    source += ".SH COMMANDS\n";
    for (const CommandEntry& below : tree.commands) {
      source += fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(below.name), escaped(below.summary));
    }
    return {page + ".1", source + see_also(tree, name)};
  }
  return {page + ".1", source + ".SH OPTIONS\n" + troff_options(*command) + see_also(tree, name)};
}

}  // namespace roofline
