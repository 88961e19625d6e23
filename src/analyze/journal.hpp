// report.json while rows arrive: complete after each row, at constant cost per row.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "host/growing_file.hpp"
#include "report/report.hpp"

namespace roofline {

class Journal {
 public:
  /// Writes to `path`; to no file if it is empty.
  explicit Journal(std::filesystem::path path) : path_(std::move(path)) {}

  /// Adds the rows that `so_far` has gained since the last call; notes and machine are those of the first call.
  /// Throws UsageError if the file cannot be written.
  void add_rows(const Report& so_far);

  /// Replaces the file with the finished report, whose rows may have changed since they were added. Throws UsageError
  /// if the file cannot be written.
  void finish(const Report& report);

 private:
  void begin(Report report);

  std::filesystem::path path_;
  std::optional<GrowingFile> file_;
  std::size_t count_ = 0;
  std::size_t duration_at_ = 0;
};

}  // namespace roofline
