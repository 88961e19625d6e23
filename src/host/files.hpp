// Files in and out: read whole, written to a temporary name and renamed, so that none is ever half there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace roofline {

/// Size limit for a kind of file, far above legitimate sizes.
struct FileLimit {
  std::uint64_t bytes = 0;
  const char* what = "";  ///< "a suite"
};
inline constexpr FileLimit kFileLimit{std::uint64_t{1} << 30, "a file"};

/// Reads a file, or a pipe that has a writer. Throws UsageError with the system's reason and the given hint;
/// immediately for folders, devices and pipes without a writer, and beyond the limit.
std::string read_file(const std::filesystem::path& path, const FileLimit& limit = kFileLimit,
                      const std::string& hint = {});

/// Checks a file for readers that seek: throws like read_file, also for pipes.
void require_file(const std::filesystem::path& path, const FileLimit& limit, const std::string& hint = {});

/// Replaces the file in one step; makes its folder first. Throws UsageError; leaves no temporary file.
void write_file(const std::filesystem::path& path, const std::string& content);

/// A safe file name made of untrusted text (an identity, a host, a suite): letters, digits, '.', '_' and '-', neither
/// hidden nor empty; the last 200 characters of longer text.
std::string file_name_of(std::string text);

/// Makes a folder and proves that a file can be written there, before hours of work are lost to a bad path.
void require_writable_folder(const std::filesystem::path& folder);

// What the system tells in files of its own (/proc, /sys), which may be absent: then so is the answer.

/// The whole text; empty if there is no such file.
std::string text_of(const std::filesystem::path& path);
std::string first_line(const std::filesystem::path& path);
/// The number that it begins with; std::nullopt if there is no file or another word ("max").
std::optional<double> number_in(const std::filesystem::path& path);

}  // namespace roofline
