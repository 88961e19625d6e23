// The folder of compiled kernels. Its files are loaded and run, so no other user may have write access.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "user/compile.hpp"

namespace roofline {

/// In the cache, or a private folder where the cache must not be used.
const std::filesystem::path& kernel_folder();

/// Why compiled kernels are not kept in the cache, but in a private folder until the process ends: another user could
/// put files into it, or it can't be made. Empty where they are kept, and before one is compiled.
std::string kernel_cache_problem();

/// A hash of the request, of the source with what it includes, and of the compiler.
std::string key_of(const CompileRequest& request);

/// ".cubin" or ".so".
std::string extension_of(const CompileRequest& request);

/// The file beside a cubin with the names of its entries.
std::filesystem::path names_of(const std::filesystem::path& file);

/// Of a compiled file, and of the names beside a cubin; std::nullopt if one of them is not ours alone. It finds damage:
/// against others stand owner, mode and folder.
std::optional<std::string> content_hash(const CompileRequest& request, const std::filesystem::path& path);

/// What was compiled before. A file's name is its key and the hash of its content; one that has another is removed.
std::optional<std::filesystem::path> kept(const CompileRequest& request, const std::string& key);

}  // namespace roofline
