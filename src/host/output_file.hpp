// Checks that outputs replace neither inputs nor pipes, devices or folders.
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

/// The file that a path refers to, after following symbolic links. Throws UsageError if it exists and is not a regular
/// file. In a world-writable folder (/tmp), a link must belong to this user or the folder's owner, as with
/// fs.protected_symlinks.
std::filesystem::path replaced_file(const std::filesystem::path& path);

/// Creates a file that will be renamed over `replaced`, with its mode, access list and, if possible, owner. It is never
/// readable by more users. Returns the descriptor, or -1 with errno.
int create_replacement(const std::filesystem::path& temporary, const std::filesystem::path& replaced);

}  // namespace roofline
