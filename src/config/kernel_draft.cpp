#include "config/kernel_draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/find.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

bool is_identifier(const std::string& name) {
  return !name.empty() && starts_name(name[0]) && std::all_of(name.begin(), name.end(), is_in_name);
}

}  // namespace

std::string read_identifier(const YamlValue& yaml, std::string_view what) {
  static const std::vector<std::string> reserved = {
      "i",   "block", "block_y", "block_z", "grid",  "grid_y", "grid_z", "shared", "thread", "threads",
      "sin", "cos",   "tan",     "asin",    "acos",  "atan",   "sinh",   "cosh",   "tanh",   "exp",
      "ln",  "log",   "log2",    "log10",   "sqrt",  "abs",    "rint",   "sign",   "min",    "max",
      "sum", "avg",   "ceil",    "floor",   "round", "erf",    "Ki",     "Mi",     "Gi"};
  std::string name = yaml.text(what);
  if (!is_identifier(name))
    yaml.fail(fmt::format("{} '{}' must be a letter, and then letters, digits and '_'", what, name));
  if (contains(reserved, name)) {
    yaml.fail(fmt::format("'{}' means something else in formulas: choose another name", name));
  }
  return name;
}

Formula read_formula(const YamlValue& yaml, std::string_view what) { return {yaml.text(what), yaml.origin()}; }

bool read_flag(const YamlValue& yaml, std::string_view what) {
  const std::string text = yaml.text(what);
  if (text != "true" && text != "false") yaml.fail(fmt::format("{} must be true or false, not '{}'", what, text));
  return text == "true";
}

double read_number(const YamlValue& yaml, std::string_view what, double minimum) {
  const std::string text = yaml.text(what);
  const std::optional<double> value = parsed_number<double>(text);
  if (!value) yaml.fail(fmt::format("{} must be a number, not '{}'", what, text));
  if (!std::isfinite(*value)) yaml.fail(fmt::format("{} must be finite, not {}", what, text));
  if (!(*value >= minimum)) yaml.fail(fmt::format("{} must be at least {}, not {}", what, minimum, text));
  return *value;
}

fs::path read_path(const KernelDraft& draft, const YamlValue& yaml, std::string_view what) {
  const std::string text = yaml.text(what);
  std::error_code hidden;
  const fs::path path = fs::weakly_canonical(draft.folder / text, hidden);
  if (hidden) yaml.fail(fmt::format("{} '{}' can't be read: {}", what, text, hidden.message()));
  if (!fs::exists(path, hidden)) yaml.fail(fmt::format("{} '{}' does not exist ({})", what, text, path.string()));
  return path;
}

fs::path read_file_path(const KernelDraft& draft, const YamlValue& yaml, std::string_view what) {
  fs::path path = read_path(draft, yaml, what);
  std::error_code hidden;
  if (!fs::is_regular_file(path, hidden)) yaml.fail(fmt::format("{} '{}' is not a file", what, path.string()));
  return path;
}

}  // namespace roofline
