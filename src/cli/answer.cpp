// The envelope that every command's result is put in.
#include "cli/answer.hpp"

#include <fmt/format.h>

#include "cli/answer_rows.hpp"
#include "model/find.hpp"
#include "report/json/json_value.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// Each failed row is an error of the answer.
void add_failed_rows(const Json& data, Json& errors) {
  const auto results = data.find("results");
  if (results == data.end() || !results->is_array()) return;
  for (const Json& row : *results) {
    if (row.value("status", "") != "failed") continue;
    errors.push_back({{"code", "row_failed"},
                      {"message", fmt::format("{}: {}", row.value("label", ""), row.value("reason", ""))},
                      {"hint", "see the reason of the row; the other rows are complete"},
                      {"row", row.at("id")}});
  }
}

std::string message_of(ExitCode code) {
  switch (code) {
    case ExitCode::workload_failed:
      return "a workload failed: see the rows";
    case ExitCode::regression:
      return "a regression or an outlier was found: see the rows";
    case ExitCode::cancelled:
      return "interrupted: the result is partial";
    case ExitCode::device_unusable:
      return "no GPU activity was recorded";
    default:
      return fmt::format("exit code {}", static_cast<int>(code));
  }
}

/// Why a command failed that named no error. The exit code of `profile` is its program's, which may be any.
Problem unnamed_problem(const Json& data, ExitCode code) {
  const Json profile = data.value("profile", Json::object());
  const int status = profile.value("exit_status", 0), signal = profile.value("signal", 0);
  const std::string hint = "see what it printed";
  if (status != 0) return {"program_failed", fmt::format("the program ended with exit status {}", status), hint};
  if (signal != 0) return {"program_failed", fmt::format("signal {} ended the program", signal), hint};
  return {error_code(code), message_of(code), {}};
}

/// The notes of a report are warnings too, once each.
void add_notes(const Json& data, std::vector<std::string>& warnings) {
  const auto notes = data.find("notes");
  if (notes == data.end() || !notes->is_array()) return;
  for (const Json& note : *notes) {
    const auto text = note.get<std::string>();
    if (!contains(warnings, text)) warnings.push_back(text);
  }
}

}  // namespace

bool asks_for_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

std::string error_code(ExitCode code) {
  switch (code) {
    case ExitCode::ok:
      return "ok";
    case ExitCode::workload_failed:
      return "failed";
    case ExitCode::usage:
      return "usage";
    case ExitCode::regression:
      return "regression";
    case ExitCode::device_unusable:
      return "device";
    case ExitCode::cancelled:
      return "interrupted";
  }
  return "program_failed";  // the exit status of a profiled program
}

std::string render_answer(Answer answer, const std::string& command, const AnswerRequest& request, ExitCode code) {
  Json& data = answer.data;
  Json errors = Json::array(), rows;
  const std::string help = command.empty() ? "see: roofline --help" : fmt::format("see: roofline help {}", command);
  for (const Problem& problem : answer.errors) {
    errors.push_back(
        {{"code", problem.code}, {"message", problem.message}, {"hint", problem.hint.empty() ? help : problem.hint}});
  }
  add_notes(data, answer.warnings);
  if (add_row_ids(data)) {
    if (code == ExitCode::workload_failed) add_failed_rows(data, errors);
    const RowCounts counts = select_rows(data, request, answer.warnings);
    rows = {{"total", counts.total}, {"shown", counts.shown}};
  }
  if (code != ExitCode::ok && errors.empty()) {
    const Problem problem = unnamed_problem(data.is_object() ? data : Json::object(), code);
    errors.push_back(
        {{"code", problem.code}, {"message", problem.message}, {"hint", problem.hint.empty() ? help : problem.hint}});
  }
  Json whole = {{"schema", kAnswerSchema},    {"tool_version", ROOFLINE_VERSION},    {"command", command},
                {"ok", code == ExitCode::ok}, {"exit_code", static_cast<int>(code)}, {"warnings", Json::array()},
                {"errors", std::move(errors)}};
  for (const std::string& warning : answer.warnings) whole["warnings"].push_back({{"message", warning}});
  if (!rows.is_null()) whole["rows"] = std::move(rows);
  if (!answer.comparison.is_null()) {
    add_row_ids(answer.comparison);
    whole["comparison"] = std::move(answer.comparison);
  }
  if (data.is_null()) {
    whole["absent"] = {{"data", code == ExitCode::ok ? "this command prints no result" : "see errors"}};
  } else {
    whole["data"] = std::move(data);
  }
  return to_json_text(whole);
}

}  // namespace roofline
