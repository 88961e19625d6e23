// The folder of compiled kernels. Its files are loaded and run, so no other user may have write access.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "user/compile.hpp"

namespace roofline {

/// The folder in the cache, or a private one if the cache is unsafe.
const std::filesystem::path& kernel_folder();

/// Why compiled kernels are in a private folder until the process ends: another user could write to the cache, or it
/// can't be created. Empty if the cache is used, and before the first compilation.
std::string kernel_cache_problem();

/// Hash of the request, of the source with its includes, and of the compiler.
std::string key_of(const CompileRequest& request);

/// ".cubin" or ".so".
std::string extension_of(const CompileRequest& request);

/// The file beside a cubin with the names of its entries.
std::filesystem::path names_of(const std::filesystem::path& file);

/// Hash of a compiled file and of the names beside a cubin; std::nullopt if one of them is not owned by this user
/// alone. It detects damage; owner, mode and folder protect from attackers.
std::optional<std::string> content_hash(const CompileRequest& request, const std::filesystem::path& path);

/// What was compiled before. A file's name is its key and the hash of its content; one that has another is removed.
std::optional<std::filesystem::path> kept(const CompileRequest& request, const std::string& key);

}  // namespace roofline
