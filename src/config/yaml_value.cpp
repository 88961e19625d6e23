// Typed access to yaml-cpp's nodes; every complaint starts with file, line and column.
#include "config/yaml_value.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "config/integer.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"
#include "text/nearest_name.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

std::string at(const std::string& path, const YAML::Mark& mark) {
  // yaml-cpp counts from 0, editors from 1. A document with nothing in it has no mark.
  return path + ":" + std::to_string(std::max(mark.line, 0) + 1) + ":" + std::to_string(std::max(mark.column, 0) + 1);
}

/// Finds characters that look like blanks and are none in YAML: the first tab in an indentation, and the first no-break
/// space outside comments. Editors show neither.
std::optional<std::string> unseen_blank(const std::string& text, const std::string& path) {
  constexpr std::string_view kNoBreakSpace = "\xc2\xa0";
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const std::size_t indentation = std::min(line.find_first_not_of(" \t"), line.size());
    const std::size_t tab = line.find('\t'), space = line.find(kNoBreakSpace);
    if (indentation < line.size() && line[indentation] == '#') continue;
    const auto place = [&](std::size_t column) { return fmt::format("{}:{}:{}", path, number, column + 1); };
    if (tab < indentation) return place(tab) + ": a tab; YAML is indented with spaces";
    if (space != std::string::npos) return place(space) + ": a no-break space (U+00A0); use an ordinary space";
  }
  return std::nullopt;
}

/// Where a document begins; of what is in it, nothing.
struct DocumentStart : YAML::EventHandler {
  YAML::Mark mark;

  void OnDocumentStart(const YAML::Mark& at) override { mark = at; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// The tag that yaml-cpp gives to a scalar in quotes.
bool is_quoted(const YAML::Node& node) { return node.Tag() == "!"; }

}  // namespace

std::vector<YamlMember> YamlValue::members(std::string_view what) const {
  std::vector<YamlMember> result;
  collect(result, what, 0);
  return result;
}

void YamlValue::collect(std::vector<YamlMember>& members, std::string_view what, int depth) const {
  // An anchor may contain an alias of itself.
  constexpr int kMaxMergeDepth = 16;
  if (depth > kMaxMergeDepth) fail("merge keys are nested too deeply");
  if (!is_map()) fail(std::string(what) + " must be a mapping (key: value), not " + kind());
  std::vector<std::string> own;
  std::vector<YamlValue> merged;
  for (const auto& pair : node_) {
    const YamlValue name(pair.first, path_);
    const YamlValue value(pair.second, path_);
    const std::string key = name.text("a key");
    if (std::find(own.begin(), own.end(), key) != own.end()) name.fail("'" + key + "' is given twice");
    own.push_back(key);
    // Here, because yaml-cpp places what isn't there on the next line.
    if (value.is_null()) name.fail("'" + key + "' has no value");
    if (key == "<<") {
      merged = value.elements("a merge");
      continue;
    }
    const auto known = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.key == key; });
    if (known == members.end()) members.push_back({key, name, value});
  }
  // Keys of the mapping itself and of earlier merges take precedence.
  for (const YamlValue& source : merged) source.collect(members, "what is merged", depth + 1);
}

std::vector<YamlValue> YamlValue::elements(std::string_view what) const {
  if (!is_list()) return {*this};
  std::vector<YamlValue> result;
  for (const YAML::Node& element : node_) result.emplace_back(element, path_);
  if (result.empty()) fail(std::string(what) + " must not be an empty list");
  return result;
}

std::string YamlValue::text(std::string_view what) const {
  if (!is_scalar() || node_.Scalar().empty()) fail(std::string(what) + " must be a single value, not " + kind());
  return node_.Scalar();
}

std::int64_t YamlValue::integer(std::string_view what, std::int64_t minimum, std::int64_t maximum) const {
  const std::string given = text(what);
  const std::optional<std::int64_t> value = parse_integer(given);
  const bool plain_number = value && given.find_first_not_of("-0123456789") == std::string::npos;
  if (plain_number && is_quoted(node_)) fail(std::string(what) + " must be a number: remove the quotes");
  if (!value) {
    const std::string advice = integer_advice(given);
    fail(std::string(what) + " must be a whole number such as 4096, 2^28 or 32Mi, not '" + given + "'" +
         (advice.empty() ? "" : "; " + advice));
  }
  if (*value < minimum) fail(std::string(what) + " must be at least " + std::to_string(minimum) + ", not " + given);
  if (*value > maximum) fail(std::string(what) + " must be at most " + std::to_string(maximum) + ", not " + given);
  return *value;
}

std::string YamlValue::place() const { return at(path_, node_.Mark()); }

int YamlValue::line() const { return std::max(node_.Mark().line, 0) + 1; }

Place YamlValue::origin() const {
  const YAML::Mark mark = node_.Mark();
  return {path_, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + (is_quoted(node_) ? 2 : 1)};
}

void YamlValue::fail(const std::string& complaint) const { throw UsageError(place() + ": " + complaint); }

void YamlValue::fail_unknown(std::string_view what, const std::string& given,
                             const std::vector<std::string>& candidates, const std::string& more) const {
  std::string message = "unknown " + std::string(what) + " '" + given + "'";
  const std::string nearest = nearest_name(given, candidates);
  if (!nearest.empty()) {
    message += "; did you mean '" + nearest + "'?";
  } else if (!candidates.empty()) {
    message += "; there is";
    for (std::size_t i = 0; i < candidates.size(); ++i) message += (i == 0 ? " " : ", ") + candidates[i];
  }
  if (!more.empty()) message += " " + more;
  fail(message);
}

std::string YamlValue::kind() const {
  if (is_map()) return "a mapping";
  if (is_list()) return "a list";
  if (is_null() || node_.Scalar().empty()) return "nothing";
  return "'" + node_.Scalar() + "'";
}

const YamlMember* find_member(const std::vector<YamlMember>& members, std::string_view key) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.key == key; });
  return found == members.end() ? nullptr : &*found;
}

void require_known(const std::vector<YamlMember>& members, const std::vector<std::string>& known,
                   const std::string& where) {
  for (const YamlMember& member : members) {
    const bool is_known = std::find(known.begin(), known.end(), member.key) != known.end();
    if (!is_known) member.name.fail_unknown("key", member.key, known, "(in " + where + ")");
  }
}

DType read_dtype(const YamlValue& yaml) {
  const std::string given = yaml.text("dtype");
  if (const auto dtype = parse_dtype(given)) return *dtype;
  yaml.fail_unknown("dtype", given, {dtype_names().begin(), dtype_names().end()});
}

const Op& read_op(const YamlValue& yaml, const std::string& key) {
  const std::string given = yaml.text(key);
  if (const Op* op = find_op(given)) return *op;
  std::vector<std::string> names;
  for (const Op* op : all_ops()) names.emplace_back(op->name());
  yaml.fail_unknown("op", given, names, "(see: roofline ops)");
}

YamlValue parse_yaml(const std::string& text, const std::string& path) {
  try {
    // Not LoadAll: it makes documents without end of a text that begins with ',' (yaml-cpp 0.7).
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentStart first, second;
    if (!parser.HandleNextDocument(first)) throw UsageError(path + ":1:1: the file is empty");
    YAML::Node document = YAML::Load(text);
    if (!parser.HandleNextDocument(second)) return {document, path};
    const auto rest = std::string_view(text).substr(std::min(text.size(), static_cast<std::size_t>(second.mark.pos)));
    throw UsageError(at(path, second.mark) + (rest.substr(0, 3) == "---" ? ": a second document ('---') in one file"
                                                                         : ": not valid YAML: unexpected content"));
  } catch (const YAML::Exception& error) {
    if (const auto blank = unseen_blank(text, path)) throw UsageError(*blank);
    const bool is_alias = error.msg.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR);
    throw UsageError(at(path, error.mark) + ": not valid YAML: " + error.msg,
                     is_alias ? "a text that begins with * needs quotes, as in \"*x\"" : "");
  }
}

}  // namespace roofline
