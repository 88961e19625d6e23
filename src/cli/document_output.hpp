// Output options -o and --format of commands whose document can be a table, Markdown, JSON, and a page with a chart.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "render/render.hpp"

namespace roofline {

/// Without -o, the single format goes to stdout (default: table). With -o, files are written (default: all but table
/// and pdf), and the table goes to stdout.
class DocumentOutput {
 public:
  /// The document in a format.
  using Render = std::function<std::string(std::string_view format, const TerminalStyle& style)>;

  /// `stem`: name of the files in a directory. `texts`: formats in addition to the table, the page and the pictures.
  DocumentOutput(std::string stem, std::vector<std::string_view> texts);

  void add_to(CommandEntry& command);
  void finish() const;
  /// Throws UsageError where a file cannot be written: before anything is measured.
  void require() const;
  /// Prints the document and writes the files, which it names on stderr.
  void put(const std::function<nlohmann::ordered_json()>& document, const Render& render,
           const TerminalStyle& style) const;
  /// True if put() prints a text for people: the table or Markdown.
  bool prints_text() const;

 private:
  std::string shown() const { return to_files() || format_.empty() ? "table" : format_; }
  bool to_files() const { return !path_.empty() && path_ != "-"; }
  std::string format_of_path() const;
  std::vector<std::string> endings() const;
  std::vector<std::filesystem::path> files() const;

  std::string stem_;
  std::vector<std::string_view> usual_, all_;  ///< formats of a directory, and all file formats
  std::string path_;                           ///< a directory, one file, or "-" for stdout; empty: stdout
  std::string format_;                         ///< empty: the default
};

/// Refuses a path such as "out.pptx" or "out.tar.gz": its ending of two to five letters and digits, two of them
/// letters, asks for a file of a format that is not written. A folder may have such a name if it exists or ends with
/// '/'; "run-1.5" and "report.v2" are folders.
void refuse_unknown_ending(const std::string& path, const std::vector<std::string>& known);

/// Refuses a path whose ending is of no format that the command writes: lists those that it does.
[[noreturn]] void refuse_ending(const std::string& path, const std::vector<std::string>& known);

}  // namespace roofline
