// Files of /proc, read with few system calls: some are read a hundred times a second.
#pragma once

#include <string>

namespace roofline {

/// The whole text; empty where there is no such file.
std::string read_proc(const std::string& path);

/// What a link of /proc points to; empty where it can't be read.
std::string read_proc_link(const std::string& path);

}  // namespace roofline
