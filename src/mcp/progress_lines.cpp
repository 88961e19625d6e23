#include "mcp/progress_lines.hpp"

#include "mcp/facts.hpp"

namespace roofline {

std::string to_progress_line(const ProgressReport& report) {
  Json progress = {{"current", report.current}};
  if (report.left_s) progress["left_s"] = *report.left_s;
  return Json{{"progress", std::move(progress)}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<ProgressReport> parse_progress_line(const std::string& line) {
  if (!line.starts_with("{\"progress\":")) return std::nullopt;
  const Json document = Json::parse(line, nullptr, false);
  if (document.is_discarded() || find_fact(document, "progress.current") == nullptr) return std::nullopt;
  return ProgressReport{text_fact(document, "progress.current"), number_fact(document, "progress.left_s")};
}

}  // namespace roofline
