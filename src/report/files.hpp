// Files in and out: read whole, written to a temporary name and renamed, so that none is ever half there.
#pragma once

#include <filesystem>
#include <string>

namespace roofline {

/// The file's text. Throws UsageError with the system's reason.
std::string read_file(const std::filesystem::path& path);

/// Replaces the file in one step; makes its folder first. Throws UsageError; leaves no temporary file.
void write_file(const std::filesystem::path& path, const std::string& content);

/// Makes a folder and proves that a file can be written there, before hours of work are lost to a bad path.
void require_writable_folder(const std::filesystem::path& folder);

}  // namespace roofline
