// report.json while rows come in: complete after each, and no dearer for the ten-thousandth than for the first.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "host/growing_file.hpp"
#include "report/report.hpp"

namespace roofline {

class Journal {
 public:
  /// Keeps `path`. An empty path: keeps nothing.
  explicit Journal(std::filesystem::path path) : path_(std::move(path)) {}

  /// Adds the rows that `so_far` has gained since the last call; notes and machine are those of the first call.
  /// Throws UsageError when the file can't be written.
  void add_rows(const Report& so_far);

  /// Replaces the file by the finished report: its rows are those that were added, with what was counted or measured
  /// again since. Throws UsageError when the file can't be written.
  void finish(const Report& report);

 private:
  void begin(Report report);

  std::filesystem::path path_;
  std::optional<GrowingFile> file_;
  std::string rows_;  ///< their text, for it is dear to make
  std::size_t count_ = 0;
  std::size_t duration_at_ = 0;
};

}  // namespace roofline
