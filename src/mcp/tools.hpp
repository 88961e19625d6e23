// The tools of the server as data: each is a command, its parameters are options of that command. The schema that a
// client sees, the checks of its arguments and the command line all use this table.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace roofline {

enum class ParameterKind : std::uint8_t {
  path,            ///< of a file, below an allowed folder
  paths,           ///< several
  path_or_name,    ///< "run/machine.json", or a name: "H100", "ops"
  paths_or_names,  ///< several, which the command takes as one list
  output,          ///< a folder or file to write
  text,
  words,   ///< a program and its arguments
  number,  ///< with `unit` after it
  integer,
  flag,  ///< an option without a value, given where the argument is `flag_when`
  choice,
  view_text,   ///< of the answer itself, which the command does not get
  view_count,  ///< the same, a whole number
};

struct ToolParameter {
  std::string name;
  ParameterKind kind = ParameterKind::text;
  std::string description;
  std::string option = {};  ///< "--device"; empty: a positional argument; "--": what follows the options
  bool required = false;
  std::vector<std::string> choices = {};
  double least = 0, most = std::numeric_limits<double>::max();
  std::string unit = {};
  bool flag_when = true;
};

struct Tool {
  std::string name;  ///< of the command, too
  std::string title, description;
  std::vector<ToolParameter> parameters;
  bool read_only = true;         ///< it runs no program and writes no file
  std::string named_after = {};  ///< the parameter that names its default output folder; empty: it writes no report
};

const std::vector<Tool>& tools();

/// Null if there is none of that name.
const Tool* find_tool(const std::string& name);

/// The elements of a tools/list.
nlohmann::ordered_json tools_to_json();

}  // namespace roofline
