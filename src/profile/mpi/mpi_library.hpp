// The library that records MPI calls (src/mpi), and the environment that loads it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roofline {

/// True if the program is started by a rank launcher or is one of its ranks; only then is the library loaded.
bool runs_ranks(const std::vector<std::string>& program);

/// Writes the library into the folder. Returns the environment with which the program's processes load it and write
/// their recordings to `recordings`.
std::map<std::string, std::string> load_mpi_library(const std::filesystem::path& folder,
                                                    const std::filesystem::path& recordings);

}  // namespace roofline
