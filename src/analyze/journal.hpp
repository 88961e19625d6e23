// report.json while rows come in: complete after each, and no dearer for the ten-thousandth than for the first.
#pragma once

#include <filesystem>
#include <optional>

#include "host/growing_file.hpp"
#include "report/report.hpp"

namespace roofline {

class Journal {
 public:
  /// Keeps `path`, which may be replaced as a whole once the last row is in. An empty path: keeps nothing.
  explicit Journal(std::filesystem::path path) : path_(std::move(path)) {}

  /// Adds the rows that `so_far` has gained since the last call; notes and machine are those of the first call.
  /// Throws UsageError when the file can't be written.
  void add_rows(const Report& so_far);

 private:
  void begin(Report report);

  std::filesystem::path path_;
  std::optional<GrowingFile> file_;
  std::size_t rows_ = 0;
  std::size_t duration_at_ = 0;
};

}  // namespace roofline
