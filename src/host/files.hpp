// Files in and out: read whole, written to a temporary name and renamed, so that none is ever half there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace roofline {

/// How much a file of a kind may hold: far more than any has that means well.
struct FileLimit {
  std::uint64_t bytes = 0;
  const char* what = "";  ///< "a suite"
};
inline constexpr FileLimit kFileLimit{std::uint64_t{1} << 30, "a file"};

/// The text of a file, or of a pipe that somebody writes to. Throws UsageError with the system's reason, and with that
/// hint; at once for what is no such thing (a folder, a device, a pipe without a writer) and beyond the limit.
std::string read_file(const std::filesystem::path& path, const FileLimit& limit = kFileLimit,
                      const std::string& hint = {});

/// For readers of their own, that come back to places of the file: throws as read_file does, for pipes too.
void require_file(const std::filesystem::path& path, const FileLimit& limit, const std::string& hint = {});

/// Replaces the file in one step; makes its folder first. Throws UsageError; leaves no temporary file.
void write_file(const std::filesystem::path& path, const std::string& content);

/// A safe file name made of untrusted text (an identity, a host, a suite): letters, digits, '.', '_' and '-', neither
/// hidden nor empty; the last 200 characters of longer text.
std::string file_name_of(std::string text);

/// Makes a folder and proves that a file can be written there, before hours of work are lost to a bad path.
void require_writable_folder(const std::filesystem::path& folder);

// What the system tells in files of its own (/proc, /sys), which may be absent: then so is the answer.

/// The whole text; empty where there is no such file.
std::string text_of(const std::filesystem::path& path);
std::string first_line(const std::filesystem::path& path);
/// The number that it begins with; nothing where there is no file or another word ("max").
std::optional<double> number_in(const std::filesystem::path& path);

}  // namespace roofline
