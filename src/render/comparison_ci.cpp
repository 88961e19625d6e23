#include "render/comparison_ci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/comparison_cases.hpp"
#include "report/json/json_value.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

bool is_failure(CaseOutcome outcome) { return outcome == CaseOutcome::regression || outcome == CaseOutcome::failed; }

// ---- JUnit ----

/// As an attribute's value, quoted.
std::string xml_attribute(std::string_view text) { return '"' + escape_xml(clean_line(text)) + '"'; }

std::string property(std::string_view name, const std::string& value) {
  return fmt::format("<property name=\"{}\" value={}/>", name, xml_attribute(value));
}

/// Without an exponent, which strict readers refuse.
std::string seconds_text(double seconds) { return fmt::format("{:.9f}", std::isfinite(seconds) ? seconds : 0.0); }

/// Why there is no verdict; empty where there is one.
std::string why_no_verdict(const Comparison& comparison) {
  if (comparison.now->complete) return comparison.compared_nothing() ? outcome_line(comparison) : "";
  return fmt::format("the later run is incomplete: {} of {} rows", comparison.now->points.size(),
                     comparison.now->rows_planned);
}

std::string junit_case(const ComparisonCase& one, const std::string& subject) {
  std::string xml = fmt::format("    <testcase classname={} name={} time=\"{}\">\n      <properties>",
                                xml_attribute(subject), xml_attribute(one.name), seconds_text(one.now_s));
  for (const auto& [name, value] : one.facts) xml += property(name, exact_text(value));
  xml += "</properties>\n";
  const std::string message = xml_attribute(one.sentence);
  if (is_failure(one.outcome)) {
    xml += fmt::format("      <failure type=\"{}\" message={}>{}</failure>\n", to_string(one.outcome), message,
                       escape_xml(clean_line(one.name + ": " + one.sentence)));
  } else if (one.outcome == CaseOutcome::not_compared) {
    xml += fmt::format("      <skipped message={}/>\n", message);
  } else {
    xml += fmt::format("      <system-out>{}</system-out>\n", escape_xml(clean_line(one.sentence)));
  }
  return xml + "    </testcase>\n";
}

// ---- SARIF ----

struct SarifRule {
  CaseOutcome outcome;
  std::string_view level;  ///< of its results
  std::string_view kind;
  std::string_view title;
};
constexpr std::array<SarifRule, 4> kRules = {{
    {CaseOutcome::regression, "error", "fail", "A kernel, step or program got slower beyond the limit"},
    {CaseOutcome::failed, "error", "fail", "A kernel was timed before and failed now"},
    {CaseOutcome::slower, "note", "fail", "A kernel got slower within the limit"},
    {CaseOutcome::undecided, "none", "open", "The interval of the time ratio is too wide to decide"},
}};

/// A path as a URI. Relative paths stay relative: the service resolves them in the repository.
std::string uri_of_path(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    uri += letter || kPlain.find(c) != std::string_view::npos
               ? std::string(1, c)
               : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return uri;
}

/// The suite's file, or the script of a profiled program: its first argument with an ending.
std::string source_path(const Report& report) {
  if (!report.invocation.suite_path.empty()) return report.invocation.suite_path;
  if (report.profile && !report.profile->program.empty()) {
    const std::vector<std::string>& program = report.profile->program;
    const auto script = std::find_if(program.begin(), program.end(), [](const std::string& argument) {
      return !argument.starts_with('-') && last_path_part(argument).find('.') != std::string_view::npos;
    });
    return script != program.end() ? *script : program.front();
  }
  return report.invocation.run_name.empty() ? "roofline" : report.invocation.run_name;
}

/// Places of the member `key: value` in a suite, in blocks or in braces.
std::vector<std::size_t> places_of_member(std::string_view suite, std::string_view key, std::string_view value) {
  const auto is_in = [](char c, std::string_view set) { return set.find(c) != set.npos; };
  std::vector<std::size_t> places;
  for (std::size_t at = suite.find(key); at != suite.npos && !value.empty(); at = suite.find(key, at + 1)) {
    const bool begins = at == 0 || is_in(suite[at - 1], " {,\n");
    std::string_view rest = suite.substr(at + key.size());
    if (!begins || !rest.starts_with(':')) continue;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \"'", 1), rest.size()));
    if (!rest.starts_with(value)) continue;
    if (rest.size() == value.size() || is_in(rest[value.size()], " ,}\"'\r\n")) places.push_back(at);
  }
  return places;
}

/// The element of a list that `place` is in: from a line that begins with a dash to the next one.
std::string_view entry_at(std::string_view suite, std::size_t place) {
  const auto begins_entry = [&](std::size_t line) {
    const std::size_t first = suite.find_first_not_of(' ', line);
    return first != suite.npos && suite[first] == '-';
  };
  const auto line_before = [&](std::size_t at) { return at == 0 ? 0 : suite.rfind('\n', at - 1) + 1; };
  std::size_t begin = line_before(place);
  while (begin > 0 && !begins_entry(begin)) begin = line_before(begin - 1);
  std::size_t end = suite.find('\n', place);
  while (end != suite.npos && !begins_entry(end + 1)) end = suite.find('\n', end + 1);
  return suite.substr(begin, end == suite.npos ? end : end - begin);
}

/// How many extents of the shape the entry at `place` states in these words.
int extents_at(std::string_view suite, std::size_t place, const Shape& shape) {
  const std::string_view entry = entry_at(suite, place);
  int stated = 0;
  for (const auto& named : shape.extents()) {
    const std::string& name = named.first;  // clang captures no structured bindings
    const std::int64_t extent = named.second;
    std::vector<std::string> words = {std::to_string(extent)};
    if (extent > 0 && std::has_single_bit(static_cast<std::uint64_t>(extent))) {
      words.push_back(fmt::format("2^{}", std::countr_zero(static_cast<std::uint64_t>(extent))));
    }
    const bool found = std::ranges::any_of(
        words, [&](const std::string& word) { return !places_of_member(entry, name, word).empty(); });
    stated += found ? 1 : 0;
  }
  return stated;
}

/// The line of the suite that has the row's label, else the workload of its kernel or op with most of its extents; 1 if
/// there is none.
std::int64_t line_of(const Report& report, const Point* point) {
  const std::string_view suite = report.invocation.suite_text;
  if (point == nullptr) return 1;
  const Workload& workload = point->workload;
  const auto line = [&](std::size_t place) {
    return 1 + std::count(suite.begin(), suite.begin() + static_cast<std::ptrdiff_t>(place), '\n');
  };
  if (const std::size_t found = workload.label.empty() ? suite.npos : suite.find(workload.label); found != suite.npos) {
    return line(found);
  }
  // A kernel of the suite is an implementation of an op (`like`) or an op itself.
  const std::pair<std::string_view, std::string_view> members[] = {
      {"kernel", workload.implementation}, {"kernel", workload.op}, {"op", workload.op}};
  for (const auto& [key, value] : members) {
    const std::vector<std::size_t> places = places_of_member(suite, key, value);
    if (places.empty()) continue;
    const auto extents = [&](std::size_t place) { return extents_at(suite, place, workload.shape); };
    return line(*std::ranges::max_element(places, {}, extents));
  }
  return 1;
}

Json json_of(const Value& value) {
  return std::visit(
      [](const auto& known) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(known)>, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<std::decay_t<decltype(known)>, std::string>) {
          return clean_line(known);
        } else {
          return known;
        }
      },
      value);
}

Json sarif_rules() {
  Json rules = Json::array();
  for (const SarifRule& rule : kRules) {
    rules.push_back({{"id", to_string(rule.outcome)},
                     {"shortDescription", {{"text", rule.title}}},
                     {"defaultConfiguration", {{"level", rule.level}}}});
  }
  return rules;
}

Json sarif_result(const Comparison& comparison, const ComparisonCase& one, std::size_t index) {
  const SarifRule& rule = kRules.at(index);
  Json result = {{"ruleId", to_string(rule.outcome)},
                 {"ruleIndex", index},
                 {"kind", rule.kind},
                 {"level", rule.level},
                 {"message", {{"text", clean_line(one.name + ": " + one.sentence)}}}};
  const Json place = {{"artifactLocation", {{"uri", uri_of_path(source_path(*comparison.now))}}},
                      {"region", {{"startLine", line_of(*comparison.now, one.point)}}}};
  result["locations"] = Json::array();
  result["locations"].push_back({{"physicalLocation", place}});
  result["locations"][0]["logicalLocations"] = Json::array({Json{{"name", one.name}, {"kind", "function"}}});
  result["partialFingerprints"] = {{"rooflineRow/v1", subject_of(*comparison.now) + ": " + one.name}};
  result["properties"] = Json::object();
  for (const auto& [name, value] : one.facts) result["properties"][name] = json_of(value);
  return result;
}

}  // namespace

std::string render_comparison_junit(const Comparison& comparison) {
  const std::vector<ComparisonCase> cases = comparison_cases(comparison);
  const std::string subject = subject_of(*comparison.now);
  const auto count = [&](auto&& meant) { return std::count_if(cases.begin(), cases.end(), meant); };
  const auto failures = count([](const ComparisonCase& one) { return is_failure(one.outcome); });
  const auto skipped = count([](const ComparisonCase& one) { return one.outcome == CaseOutcome::not_compared; });
  const std::string no_verdict = why_no_verdict(comparison);
  const int errors = no_verdict.empty() ? 0 : 1;
  double seconds = 0;
  for (const ComparisonCase& one : cases) seconds += std::isfinite(one.now_s) ? one.now_s : 0;
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"",
                  static_cast<std::ptrdiff_t>(cases.size()) + errors, failures, errors, skipped, seconds_text(seconds));
  std::string xml =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"roofline\" {}>\n", counts);
  xml += fmt::format("  <testsuite name={} {} timestamp={}>\n    <properties>", xml_attribute(subject), counts,
                     xml_attribute(comparison.now->invocation.started_at));
  xml += property("outcome", outcome_line(comparison)) + property("max_slowdown", exact_text(comparison.max_slowdown)) +
         property("device_before", comparison.base->machine.device.name) +
         property("device_now", comparison.now->machine.device.name) +
         property("runs_before", fmt::format("{}", comparison.base_runs)) +
         property("runs_now", fmt::format("{}", comparison.now_runs)) + "</properties>\n";
  for (const ComparisonCase& one : cases) xml += junit_case(one, subject);
  if (errors > 0) {
    xml += fmt::format(
        "    <testcase classname={} name=\"{}\" time=\"0\">\n      <error type=\"{}\" "
        "message={}/>\n    </testcase>\n",
        xml_attribute(subject), comparison.now->complete ? "compared runs" : "complete run",
        comparison.now->complete ? "not-compared" : "incomplete", xml_attribute(no_verdict));
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

std::string render_comparison_sarif(const Comparison& comparison) {
  const std::string no_verdict = why_no_verdict(comparison);
  Json invocation = {{"executionSuccessful", no_verdict.empty()}, {"toolExecutionNotifications", Json::array()}};
  if (!no_verdict.empty()) {
    invocation["toolExecutionNotifications"].push_back({{"level", "error"}, {"message", {{"text", no_verdict}}}});
  }
  Json results = Json::array();
  for (const ComparisonCase& one : comparison_cases(comparison)) {
    const auto rule = std::find_if(kRules.begin(), kRules.end(),
                                   [&](const SarifRule& known) { return known.outcome == one.outcome; });
    if (rule == kRules.end()) continue;
    results.push_back(sarif_result(comparison, one, static_cast<std::size_t>(rule - kRules.begin())));
  }
  Json run = {
      {"tool", {{"driver", {{"name", "roofline"}, {"version", ROOFLINE_VERSION}, {"rules", sarif_rules()}}}}},
      {"invocations", Json::array({std::move(invocation)})},
      {"columnKind", "unicodeCodePoints"},
      {"results", std::move(results)},
      {"properties", {{"outcome", clean_line(outcome_line(comparison))}, {"max_slowdown", comparison.max_slowdown}}}};
  return to_json_text({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                       {"version", "2.1.0"},
                       {"runs", Json::array({std::move(run)})}});
}

}  // namespace roofline
