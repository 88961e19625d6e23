// Reads the recordings of a job with memory that grows with the number of ranks, not of launches.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profile/process_trace.hpp"
#include "profile/ranks.hpp"
#include "profile/recording.hpp"

namespace roofline {

struct JobTraces {
  std::vector<ProcessTrace> whole;      ///< sorted by process start
  std::vector<ProcessTrace> condensed;  ///< the other ranks, sorted by rank
};

/// Up to 16 spools are read whole. With more, ranks are condensed one after the other (or read from the condensed
/// traces that they wrote), and eight are read whole: those that others wait for, a typical one, and some others.
JobTraces read_job(const std::vector<std::filesystem::path>& spools, std::vector<DefectiveSpool>& defective);

/// Converts the groups and devices of `job` from those of `all`, which has all ranks, to those of `recording`, which
/// has the first of its processes. Others become -1.
void refer_to(const Recording& recording, const Recording& all, Job& job);

/// Note that says which ranks the rows cover.
std::string about_whole_ranks(const Job& job);

}  // namespace roofline
