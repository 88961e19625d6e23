// The recordings of a job of any number of ranks, read so that memory grows with the ranks and not with their launches.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profile/process_trace.hpp"
#include "profile/ranks.hpp"
#include "profile/recording.hpp"

namespace roofline {

struct JobTraces {
  std::vector<ProcessTrace> whole;      ///< by process start
  std::vector<ProcessTrace> condensed;  ///< of the other ranks, by rank
};

/// Up to 16 spools whole. Of more, ranks are condensed one after the other (or their condensed traces are read, where
/// they have written them), and eight of them are read whole: those that the others wait for, a typical one, and some
/// others.
JobTraces read_job(const std::vector<std::filesystem::path>& spools, std::vector<DefectiveSpool>& defective);

/// Of a job whose ranks `all` has, the groups and devices of a recording with the first of its processes. Other groups
/// and devices are -1.
void refer_to(const Recording& recording, const Recording& all, Job& job);

/// Which ranks the rows are of, as a note.
std::string about_whole_ranks(const Job& job);

}  // namespace roofline
