// A text file that grows at its end while others may read it and its writer may be killed.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "host/unfinished_file.hpp"

namespace roofline {

/// opening + what was appended + closing: whole whenever someone opens it, and after a SIGKILL. Appending costs what
/// the new text costs, however long the file has become. Two copies are written in turn, and the one that has
/// everything takes the file's name; so what a reader has opened stays as it is until two more texts have been
/// appended.
class GrowingFile {
 public:
  /// Nothing is at `path` before the first append; what is there already stays until then. Throws UsageError.
  GrowingFile(const std::filesystem::path& path, const std::string& opening, std::string closing);

  /// Throws UsageError.
  void append(std::string_view text);

  /// From the next append on, what the opening has at `offset` is this text of the same length.
  void replace(std::size_t offset, std::string text);

 private:
  struct Copy {
    Copy() = default;
    ~Copy();
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    std::filesystem::path name;
    std::optional<UnfinishedFile> unfinished;
    int file = -1;
    std::size_t end = 0;  ///< where the closing stands
    std::string missing;  ///< what the other copy has already
  };

  void write(const Copy& copy, std::string_view text, std::size_t offset) const;
  void publish(const Copy& copy) const;
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::string closing_;
  std::size_t replaced_at_ = 0;
  std::string replacement_;
  std::array<Copy, 2> copies_;
  std::size_t turn_ = 0;
};

}  // namespace roofline
