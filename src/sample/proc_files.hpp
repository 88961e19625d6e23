// Files of /proc, read with few system calls: some are read a hundred times a second.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace roofline {

/// The whole text; empty if there is no such file.
std::string read_proc(const std::string& path);

/// Target of a link in /proc; empty if unreadable.
std::string read_proc_link(const std::string& path);

/// The entries of a folder of /proc whose names are ids; empty if it can't be read.
std::vector<pid_t> list_proc_ids(const std::string& folder);

}  // namespace roofline
