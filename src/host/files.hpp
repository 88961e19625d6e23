// Files in and out: read whole, written to a temporary name and renamed, so that none is ever half there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace roofline {

/// The file's text. Throws UsageError with the system's reason, and with that hint.
std::string read_file(const std::filesystem::path& path, const std::string& hint = {});

/// Replaces the file in one step; makes its folder first. Throws UsageError; leaves no temporary file.
void write_file(const std::filesystem::path& path, const std::string& content);

/// Makes a folder and proves that a file can be written there, before hours of work are lost to a bad path.
void require_writable_folder(const std::filesystem::path& folder);

// What the system tells in files of its own (/proc, /sys), which may be absent: then so is the answer.

/// The whole text; empty where there is no such file.
std::string text_of(const std::filesystem::path& path);
std::string first_line(const std::filesystem::path& path);
/// The number that it begins with; nothing where there is no file or another word ("max").
std::optional<double> number_in(const std::filesystem::path& path);

}  // namespace roofline
