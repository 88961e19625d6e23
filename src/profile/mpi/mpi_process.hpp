// The MPI calls of one rank: what the library in it recorded (mpi/calls.h), with the lines of its calls and of its
// computing. Plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "profile/process_trace.hpp"
#include "report/host_profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// Whether a call returns when its own part is done, when the last rank has called it, or, for some ranks, before.
enum class MpiKind : std::uint8_t { other, collective, rooted };

/// All calls of one function at one place of the program.
struct MpiSite {
  std::string function;  ///< "MPI_Allreduce"
  MpiKind kind = MpiKind::other;
  std::string module;         ///< path of the file with the call; empty: not known
  std::uint64_t address = 0;  ///< in it, as linked, of the instruction after the call
  std::uint64_t calls = 0;
  std::uint64_t messages = 0;  ///< calls that send or receive data
  std::uint64_t small = 0;     ///< of those, of at most 4 KiB
  double bytes = 0;
  double seconds = 0;
  HostFrame place;  ///< of the call; without a function: not known
};

/// One blocking collective.
struct MpiCollective {
  std::uint64_t communicator = 0;  ///< the same on all of its ranks
  std::uint64_t number = 0;        ///< of the communicator's blocking collectives, from 0
  std::uint64_t start = 0;         ///< ns of CLOCK_MONOTONIC of its node
  std::uint64_t ns = 0;
  std::uint32_t site = 0;  ///< index into MpiProcess::sites
  std::uint32_t ranks = 0;
};

/// Time of the rank's first thread at one place, outside of MPI.
struct MpiCompute {
  HostFrame place;
  HostTimes times;
};

struct MpiProcess {
  std::int64_t pid = 0;
  int rank = 0, ranks = 0;
  std::string host, launcher;
  std::uint64_t start = 0, end = 0;  ///< ns of CLOCK_MONOTONIC: from the end of MPI_Init to MPI_Finalize
  double mpi_s = 0;                  ///< of that, in calls of MPI
  bool finalized = false;
  std::uint64_t calls = 0, lost = 0;
  std::uint64_t stride = 1;  ///< of the numbers of collectives: the others were dropped
  std::vector<MpiSite> sites;
  std::vector<MpiCollective> collectives;
  std::vector<MpiCompute> compute;  ///< the largest first; empty: not sampled

  double seconds() const { return static_cast<double>(end - start) * 1e-9; }
  double compute_s() const { return seconds() - mpi_s; }
};

/// The ranks whose files a folder has, by rank; without what recorded nothing. Nothing in the files is trusted: one
/// that is damaged is added to `defective`.
std::vector<MpiProcess> read_mpi_processes(const std::filesystem::path& folder, std::vector<DefectiveSpool>& defective);

/// Of one file's bytes. Throws Error where they are no such file.
MpiProcess parse_mpi_process(std::string_view bytes);

}  // namespace roofline
