#include "mcp/digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mcp/facts.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kQuotedLines = 12, kMostWarnings = 4, kMostErrors = 6;

/// The end of what a command wrote, line by line.
void quote_messages(const std::string& messages, Digest& digest) {
  constexpr std::size_t kMostBytes = 8192;
  const std::string_view tail =
      std::string_view(messages).substr(messages.size() - std::min(messages.size(), kMostBytes));
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < tail.size();) {
    const std::size_t end = std::min(tail.find('\n', begin), tail.size());
    if (std::string line = clean_line(tail.substr(begin, end - begin)); !line.empty()) lines.push_back(std::move(line));
    begin = end + 1;
  }
  if (lines.empty()) return;
  digest.line("last messages:");
  for (std::size_t i = lines.size() - std::min(lines.size(), kQuotedLines); i < lines.size(); ++i) {
    digest.line("  " + lines[i], 160);
  }
}

void digest_data(const Json& data, const ReportView& view, Digest& digest) {
  const std::string schema = text_fact(data, "schema");
  if (schema == "roofline.report/1") return digest_report(data, view, digest);
  if (schema == "roofline.machine/1") return digest_machine(data, view.offset, digest);
  if (schema == "roofline.node/1") return digest_node(data, digest);
  if (schema == "roofline.comparison/1") return digest_comparison(data, view.offset, digest);
  if (schema == "roofline.bound/1") return digest_bound(data, digest);
  if (schema == "roofline.project/1") return digest_projections(data, digest);
  digest.line(text_fact(data, "text"));
}

}  // namespace

void digest_offset(std::size_t offset, std::size_t size, std::string_view what, Digest& digest) {
  if (size > 0 && offset >= size)
    digest.line(fmt::format("offset={}: there are {} {}, and all are skipped", offset, size, what));
}

void Digest::line(std::string_view text, int columns) { item(text, columns); }

bool Digest::item(std::string_view text, int columns) {
  if (text.empty()) return true;
  const std::string shortened = shorten(clean(text), columns) + "\n";
  if (cut_ || text_.size() + shortened.size() > kDigestBytes) {
    cut_ = true;
    return false;
  }
  text_ += shortened;
  return true;
}

void Digest::footer(std::string_view text) { footer_ += shorten(clean_line(text), 400) + "\n"; }

void Digest::more(std::string_view text) {
  says_more_ = true;
  footer(text);
}

std::string Digest::text() const {
  const std::string hint = cut_hint_.empty() ? "" : ": " + cut_hint_;
  return text_ + (cut_ && !says_more_ ? fmt::format("[cut at {} bytes{}]\n", kDigestBytes, hint) : "") + footer_;
}

ToolAnswer digest_of_answer(const Json& answer, const ReportView& view, const std::string& messages) {
  Digest digest;
  const Json& errors = list_fact(answer, "errors");
  for (std::size_t i = 0; i < std::min(errors.size(), kMostErrors); ++i) {
    const std::string hint = text_fact(errors[i], "hint");
    const std::string message = text_fact(errors[i], "message");
    digest.line(fmt::format("error ({}): {}{}", text_fact(errors[i], "code"), message,
                            hint.empty() ? "" : fmt::format(" ({})", hint)),
                400);
  }
  if (errors.size() > kMostErrors) digest.line(fmt::format("and {} more errors", errors.size() - kMostErrors));
  const Json& data = object_fact(answer, "data");
  if (!data.empty()) digest_data(data, view, digest);
  const Json& warnings = list_fact(answer, "warnings");
  const bool is_summary = view.row.empty() && (view.section.empty() || view.section == "summary");
  for (std::size_t i = 0; is_summary && i < std::min(warnings.size(), kMostWarnings); ++i) {
    digest.line("note: " + text_fact(warnings[i], "message"));
  }
  const bool failed_program =
      number_fact_or(data, "profile.exit_status", 0) != 0 || find_fact(data, "profile.signal") != nullptr;
  const bool is_known = !errors.empty() && text_fact(errors[0], "code") == "usage";
  if ((data.empty() && !is_known) || failed_program) quote_messages(messages, digest);
  return {digest.text(), data.empty()};
}

ToolAnswer digest_without_answer(const std::string& command, const std::string& end, const std::string& messages) {
  Digest digest;
  digest.line(fmt::format("roofline {} {} without an answer", command, end));
  quote_messages(messages, digest);
  return {digest.text(), true};
}

}  // namespace roofline
