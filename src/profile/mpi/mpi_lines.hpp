// The lines of a rank's MPI calls and of its computing, and the file in which they are kept with a recording.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "profile/mpi/mpi_process.hpp"

namespace roofline {

/// Kept beside the files of the calls: the program's own files may have changed when they are read again.
inline constexpr const char* kMpiLinesFile = "mpi.lines";

/// The lines of the calls, from the files of the program.
void find_call_lines(std::vector<MpiProcess>& processes);

/// Where the first thread of each rank was between MPI_Init and MPI_Finalize while it was in no call of MPI.
void add_compute_lines(std::vector<MpiProcess>& processes, const HostSamples& samples);

std::string write_mpi_lines(const std::vector<MpiProcess>& processes);
/// Adds what the text has to the processes of those process ids. Nothing in it is trusted.
void read_mpi_lines(std::string_view text, std::vector<MpiProcess>& processes);

}  // namespace roofline
