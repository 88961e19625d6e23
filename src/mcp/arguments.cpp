#include "mcp/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "host/files.hpp"
#include "model/error.hpp"
#include "model/find.hpp"
#include "text/nearest_name.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Kind = ParameterKind;

constexpr std::size_t kMostWords = 10'000;

[[noreturn]] void refuse(const ToolParameter& parameter, const char* expected) {
  throw UsageError(fmt::format("{}: expected {}", parameter.name, expected), parameter.description);
}

std::string text_of_argument(const ToolParameter& parameter, const Json& value) {
  if (!value.is_string()) refuse(parameter, "a text");
  const auto& text = value.get_ref<const std::string&>();
  if (text.find('\0') != std::string::npos) refuse(parameter, "a string without null characters");
  return text;
}

std::vector<std::string> texts_of_argument(const ToolParameter& parameter, const Json& value) {
  if (!value.is_array() || value.empty() || value.size() > kMostWords)
    refuse(parameter, "a list of at least one string");
  std::vector<std::string> texts;
  for (const Json& element : value) texts.push_back(text_of_argument(parameter, element));
  return texts;
}

double number_of_argument(const ToolParameter& parameter, const Json& value, bool whole) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  const bool fits = number >= parameter.least && number <= parameter.most && (!whole || number == std::floor(number));
  if (fits) return number;
  throw UsageError(fmt::format("{}: expected a {} from {} to {}", parameter.name, whole ? "whole number" : "number",
                               parameter.least, parameter.most),
                   parameter.description);
}

std::string choice_of_argument(const ToolParameter& parameter, const Json& value) {
  std::string word = text_of_argument(parameter, value);
  if (parameter.choices.empty() || contains(parameter.choices, word)) return word;
  throw UsageError(fmt::format("{}: expected one of {}", parameter.name, fmt::join(parameter.choices, ", ")));
}

/// "1.5s".
std::string with_unit(const ToolParameter& parameter, double number) {
  return fmt::format("{}{}", number, parameter.unit);
}

/// What looks like a path, or is one, must be allowed; a name may be anything that is no option.
std::string path_or_name(const ToolParameter& parameter, const std::string& given, const AllowedPaths& paths) {
  std::error_code unknown;
  const fs::file_type there = fs::symlink_status(paths.working_folder() / given, unknown).type();
  const bool is_path =
      given.find('/') != std::string::npos || (there != fs::file_type::not_found && there != fs::file_type::directory);
  if (is_path) return paths.resolve(given).string();
  if (given.empty() || given.starts_with('-')) refuse(parameter, "a path or a name");
  return given;
}

/// reports/NAME-N, the first that does not exist.
fs::path new_report_folder(const fs::path& working_folder, const std::string& named_after) {
  std::string name = file_name_of(fs::path(named_after).stem().string());
  std::replace(name.begin(), name.end(), '.', '-');  // an extension would make a file of it
  std::error_code unknown;
  for (int number = 1;; ++number) {
    fs::path folder = working_folder / "reports" / fmt::format("{}-{}", name, number);
    if (!fs::exists(fs::symlink_status(folder, unknown))) return folder;
  }
}

/// For an interpreter, the script identifies the program.
std::string name_of_program(const std::vector<std::string>& words) {
  const std::string first = fs::path(words.front()).filename().string();
  const bool interpreter = first.starts_with("python") || first == "torchrun" || first == "bash" || first == "sh";
  const auto script = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return fs::path(word).extension() == ".py" || fs::path(word).extension() == ".sh";
  });
  return interpreter && script != words.end() ? *script : words.front();
}

/// The command line of one call.
class CommandLine {
 public:
  CommandLine(const Tool& tool, const Json& arguments, const AllowedPaths& paths)
      : tool_(tool), arguments_(arguments), paths_(paths) {
    command_.arguments = {tool.name, "--json"};
  }

  ToolCommand build() {
    refuse_unknown();
    for (const ToolParameter& parameter : tool_.parameters) {
      const auto value = arguments_.find(parameter.name);
      if (value != arguments_.end()) {
        take(parameter, *value);
      } else if (parameter.required) {
        throw UsageError(fmt::format("{}: missing", parameter.name), parameter.description);
      }
    }
    if (!tool_.named_after.empty()) write_report();
    add_all(command_.arguments, positional_);
    if (!after_dashes_.empty()) command_.arguments.emplace_back("--");
    add_all(command_.arguments, after_dashes_);
    return std::move(command_);
  }

 private:
  static void add_all(std::vector<std::string>& list, const std::vector<std::string>& more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  void refuse_unknown() const {
    std::vector<std::string> names;
    for (const ToolParameter& parameter : tool_.parameters) names.push_back(parameter.name);
    for (const auto& [name, value] : arguments_.items()) {
      if (contains(names, name)) continue;
      const std::string near = nearest_name(name, names);
      throw UsageError(
          fmt::format("{}: no such argument of {}", name, tool_.name),
          near.empty() ? fmt::format("arguments: {}", fmt::join(names, ", ")) : fmt::format("did you mean {}?", near));
    }
  }

  /// A folder stands for the report.json in it.
  std::string report_path(const std::string& given) const {
    const fs::path path = paths_.resolve(given);
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) return path.string();
    return paths_.resolve((path / "report.json").string()).string();
  }

  void put(const ToolParameter& parameter, const std::string& text) {
    if (parameter.option.empty()) {
      positional_.push_back(text);
    } else {
      command_.arguments.push_back(parameter.option + "=" + text);
    }
  }

  void put_list(const ToolParameter& parameter, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (text.find(',') != std::string::npos) refuse(parameter, "names without commas");
    }
    put(parameter, fmt::format("{}", fmt::join(texts, ",")));
  }

  void take(const ToolParameter& parameter, const Json& value) {
    switch (parameter.kind) {
      case Kind::path: {
        const std::string path = report_path(text_of_argument(parameter, value));
        put(parameter, path);
        if (tool_.name == "report") command_.view.report = shown(path);
        break;
      }
      case Kind::paths: {
        const std::vector<std::string> given = texts_of_argument(parameter, value);
        std::vector<std::string>& target = parameter.option == "--" ? after_dashes_ : positional_;
        for (const std::string& path : given) target.push_back(report_path(path));
        name_after(parameter, given.front());
        break;
      }
      case Kind::path_or_name: {
        const std::string given = text_of_argument(parameter, value);
        put(parameter, path_or_name(parameter, given, paths_));
        name_after(parameter, given);
        break;
      }
      case Kind::paths_or_names: {
        std::vector<std::string> texts;
        for (const std::string& given : texts_of_argument(parameter, value)) {
          texts.push_back(path_or_name(parameter, given, paths_));
        }
        put_list(parameter, texts);
        break;
      }
      case Kind::output:
        output_ = paths_.resolve(text_of_argument(parameter, value));
        if (tool_.named_after.empty()) put(parameter, output_.string());
        break;
      case Kind::text:
        put(parameter, text_of_argument(parameter, value));
        break;
      case Kind::words:
        after_dashes_ = texts_of_argument(parameter, value);
        name_after(parameter, name_of_program(after_dashes_));
        break;
      case Kind::number:
        put(parameter, with_unit(parameter, number_of_argument(parameter, value, false)));
        break;
      case Kind::integer:
        put(parameter,
            std::to_string(static_cast<std::int64_t>(number_of_argument(parameter, value, true))) + parameter.unit);
        break;
      case Kind::flag:
        if (!value.is_boolean()) refuse(parameter, "true or false");
        if (value.get<bool>() == parameter.flag_when) command_.arguments.push_back(parameter.option);
        break;
      case Kind::choice:
        put(parameter, choice_of_argument(parameter, value));
        break;
      case Kind::view_text:
        (parameter.name == "row" ? command_.view.row : command_.view.section) = choice_of_argument(parameter, value);
        break;
      case Kind::view_count:
        command_.view.offset = static_cast<std::size_t>(number_of_argument(parameter, value, true));
        break;
    }
  }

  void name_after(const ToolParameter& parameter, const std::string& given) {
    if (parameter.name == tool_.named_after) named_after_ = given;
  }

  /// Relative to the working folder where it is below it: that is shorter.
  std::string shown(const fs::path& path) const {
    const fs::path relative = path.lexically_relative(paths_.working_folder());
    return relative.empty() || relative.begin()->string() == ".." ? path.string() : relative.string();
  }

  void write_report() {
    if (output_.empty()) {  // reports/ may be a link
      output_ = paths_.resolve(new_report_folder(paths_.working_folder(), named_after_).string());
      command_.new_folder = output_;
    }
    command_.arguments.push_back("--output=" + output_.string());
    command_.arguments.emplace_back("--format=json,html,svg");
    command_.view.report = shown(output_ / "report.json");
  }

  const Tool& tool_;
  const Json& arguments_;
  const AllowedPaths& paths_;
  ToolCommand command_;
  fs::path output_;
  std::string named_after_;
  std::vector<std::string> positional_, after_dashes_;
};

}  // namespace

ToolCommand command_of(const Tool& tool, const Json& arguments, const AllowedPaths& paths) {
  return CommandLine(tool, arguments, paths).build();
}

}  // namespace roofline
