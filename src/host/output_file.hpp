// What a command reads and what it replaces: an output is no input, and no pipe, device or folder.
#pragma once

#include <filesystem>
#include <string>

namespace roofline {

/// A file that the command reads; read_file() and require_file() add theirs. From any thread.
void add_input(const std::filesystem::path& path);

/// Throws UsageError, with that hint, where the file is an input by any name or link; throws as replaced_file() does.
void require_output(const std::filesystem::path& path,
                    const std::string& hint = "name another place with -o, or leave this format out with --format");

/// write_file() of what a command was asked to write: after require_output().
void write_output(const std::filesystem::path& path, const std::string& content);

/// The file that a path stands for: where symbolic links lead, else the path. Throws UsageError where something other
/// than a regular file is there. In a folder that is open to all (/tmp), a link must be this user's or the folder's
/// owner's, as with fs.protected_symlinks.
std::filesystem::path replaced_file(const std::filesystem::path& path);

/// Creates a file that is to be renamed over `replaced`, and has its mode, access list and, where possible, owner. It
/// is at no time readable by more users. Returns the descriptor, or -1 with errno.
int create_replacement(const std::filesystem::path& temporary, const std::filesystem::path& replaced);

}  // namespace roofline
