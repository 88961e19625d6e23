// The answers of the server: what decides, in a few lines of text with names to ask further.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "mcp/arguments.hpp"

namespace roofline {

/// About 2,000 tokens: names and figures have about three bytes per token.
inline constexpr std::size_t kDigestBytes = 6000;

/// Lines up to a limit.
class Digest {
 public:
  /// A line of at most `columns` characters; nothing for an empty one.
  void line(std::string_view text, int columns = 240);
  /// The same for a line of a list: false if there is no room for it.
  bool item(std::string_view text, int columns = 240);
  /// What ends the text, also where lines had no room.
  void footer(std::string_view text);
  /// A footer that says how to ask for the lines that are missing.
  void more(std::string_view text);
  /// How to ask for what is missing where no list says it; else the answer says only that it was cut.
  void cut_hint(std::string_view text) { cut_hint_ = text; }

  bool has_room() const { return text_.size() < kDigestBytes; }
  std::string text() const;

 private:
  std::string text_, footer_, cut_hint_;
  bool cut_ = false, says_more_ = false;
};

struct ToolAnswer {
  std::string text = {};
  bool is_error = false;
};

/// Digest of the document that a command wrote for --json (docs/schema/answer.schema.json). `messages` is its stderr,
/// whose end is quoted if there is no result or the program failed.
ToolAnswer digest_of_answer(const nlohmann::ordered_json& answer, const ReportView& view, const std::string& messages);

/// Digest of a command that wrote no document: `end` says how it ended.
ToolAnswer digest_without_answer(const std::string& command, const std::string& end, const std::string& messages);

// The parts, by schema; declared for the dispatch in digest.cpp.
void digest_report(const nlohmann::ordered_json& report, const ReportView& view, Digest& digest);
/// Says that `offset` skips all `size` elements of a list, if it does.
void digest_offset(std::size_t offset, std::size_t size, std::string_view what, Digest& digest);
void digest_profile(const nlohmann::ordered_json& report, Digest& digest);
void digest_host(const nlohmann::ordered_json& report, std::size_t offset, Digest& digest);
void digest_memory(const nlohmann::ordered_json& report, Digest& digest);
void digest_savings(const nlohmann::ordered_json& report, std::size_t offset, std::size_t most, Digest& digest);
void digest_row(const nlohmann::ordered_json& row, std::size_t number, Digest& digest);
/// What warps of the row's kernel wait for, and its hottest lines; nothing without samples.
void digest_samples_of_row(const nlohmann::ordered_json& report, const nlohmann::ordered_json& row, Digest& digest);
/// Kernels with their hottest lines, the most samples first.
void digest_lines(const nlohmann::ordered_json& report, std::size_t offset, Digest& digest);
void digest_machine(const nlohmann::ordered_json& machine, std::size_t offset, Digest& digest);
void digest_node(const nlohmann::ordered_json& node, Digest& digest);
void digest_comparison(const nlohmann::ordered_json& comparison, std::size_t offset, Digest& digest);
void digest_bound(const nlohmann::ordered_json& bound, Digest& digest);
void digest_projections(const nlohmann::ordered_json& projections, Digest& digest);

}  // namespace roofline
