// Recordings of several ranks, as they were kept: of ranks under one roofline in one folder, of ranks each under a
// roofline of its own in a folder for each.
#pragma once

#include <filesystem>
#include <vector>

#include "profile/process_trace.hpp"
#include "profile/profile.hpp"

namespace roofline {

/// The calls of MPI that a folder has, with the lines that were kept with them; with none where the program's files
/// have them.
std::vector<MpiProcess> read_mpi_ranks(const std::filesystem::path& folder, const std::optional<HostSamples>& host,
                                       std::vector<DefectiveSpool>& defective);

/// Adds the recordings of these folders, of many ranks as read_job() reads them. Samples are those of ranks on one
/// node, of the first ranks only: they are for the page, and each rank has kept the lines of its computing.
void add_rank_folders(const std::vector<std::filesystem::path>& folders, std::vector<ProcessTrace>& traces,
                      ProgramFacts& facts);

/// The host samples of an earlier run; nothing where it has none or the file is damaged.
std::optional<HostSamples> kept_host_samples(const std::filesystem::path& folder);

}  // namespace roofline
