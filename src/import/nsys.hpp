// Nsight Systems, exported to SQLite.
#pragma once

#include <filesystem>

#include "import/imported.hpp"

namespace roofline {

/// `nsys export --type sqlite`, of any version: what a table has no column for is left out.
ImportedProfile read_nsys(const std::filesystem::path& file);

/// True if a file that begins so is an SQLite database.
bool looks_like_nsys(std::string_view beginning);

}  // namespace roofline
