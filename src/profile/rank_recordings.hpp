// Kept recordings of several ranks: under one roofline in one folder, or each under its own roofline in its own folder.
#pragma once

#include <filesystem>
#include <vector>

#include "profile/process_trace.hpp"
#include "profile/profile.hpp"

namespace roofline {

/// The MPI calls of a folder with their kept lines; otherwise with lines from the program's files.
std::vector<MpiProcess> read_mpi_ranks(const std::filesystem::path& folder, const std::optional<HostSamples>& host,
                                       std::vector<DefectiveSpool>& defective);

/// Adds the recordings of these folders; with many ranks as read_job() does. Host samples are those of the first ranks
/// on one node, for the page only; each rank has kept the lines of its computation.
void add_rank_folders(const std::vector<std::filesystem::path>& folders, std::vector<ProcessTrace>& traces,
                      ProgramFacts& facts);

/// Host samples of an earlier run; std::nullopt if missing or damaged.
std::optional<HostSamples> kept_host_samples(const std::filesystem::path& folder);

}  // namespace roofline
