// Source lines of a rank's MPI calls and of its computation, and the file that keeps them with a recording.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "profile/mpi/mpi_process.hpp"

namespace roofline {

/// File name beside the recorded calls. Lines are kept because the program's files may have changed later.
inline constexpr const char* kMpiLinesFile = "mpi.lines";

/// Lines of the calls, from the program's files.
void find_call_lines(std::vector<MpiProcess>& processes);

/// Where the first thread of each rank was between MPI_Init and MPI_Finalize while outside MPI calls.
void add_compute_lines(std::vector<MpiProcess>& processes, const HostSamples& samples);

std::string write_mpi_lines(const std::vector<MpiProcess>& processes);
/// Adds the data of the text to the processes with these process ids. The text is not trusted.
void read_mpi_lines(std::string_view text, std::vector<MpiProcess>& processes);

}  // namespace roofline
