#include "render/comparison_ci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

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

std::string unfinished(const Comparison& comparison) {
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
    {CaseOutcome::regression, "error", "fail", "A kernel or step got slower beyond the limit"},
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

/// The first line of the suite that has the row's label, else its op; 1 if there is none.
std::int64_t line_of(const Report& report, const Point* point) {
  const std::string_view suite = report.invocation.suite_text;
  if (point == nullptr) return 1;
  for (const std::string& wanted : {point->workload.label, "op: " + point->workload.op}) {
    const std::size_t found = wanted.empty() ? suite.npos : suite.find(wanted);
    if (found != suite.npos)
      return 1 + std::count(suite.begin(), suite.begin() + static_cast<std::ptrdiff_t>(found), '\n');
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
  const int errors = comparison.now->complete ? 0 : 1;
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
        "    <testcase classname={} name=\"complete run\" time=\"0\">\n      <error type=\"incomplete\" "
        "message={}/>\n    </testcase>\n",
        xml_attribute(subject), xml_attribute(unfinished(comparison)));
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

std::string render_comparison_sarif(const Comparison& comparison) {
  Json invocation = {{"executionSuccessful", comparison.now->complete}, {"toolExecutionNotifications", Json::array()}};
  if (!comparison.now->complete) {
    invocation["toolExecutionNotifications"].push_back(
        {{"level", "error"}, {"message", {{"text", unfinished(comparison)}}}});
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
