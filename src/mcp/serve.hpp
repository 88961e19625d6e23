// The server's loop: lines from stdin, calls as child processes, lines to stdout.
#pragma once

#include <filesystem>

#include "mcp/allowed_paths.hpp"

namespace roofline {

/// Serves until stdin is closed or this process is asked to end; `program` is roofline. What runs then is ended.
void serve_mcp(const std::filesystem::path& program, const AllowedPaths& paths);

}  // namespace roofline
