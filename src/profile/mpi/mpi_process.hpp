// MPI calls of one rank, as recorded by the library in it (mpi/calls.h), with the lines of its calls and computation.
// Plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "profile/process_trace.hpp"
#include "report/host_profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// When a call returns: after its own part, after the last rank has called it, or for some ranks before that.
enum class MpiKind : std::uint8_t { other, collective, rooted };

/// All calls of one function at one place of the program.
struct MpiSite {
  std::string function;  ///< "MPI_Allreduce"
  MpiKind kind = MpiKind::other;
  std::string module;         ///< path of the file with the call; empty: unknown
  std::uint64_t address = 0;  ///< link-time address of the instruction after the call
  std::uint64_t calls = 0;
  std::uint64_t messages = 0;  ///< calls that send or receive data
  std::uint64_t small = 0;     ///< part of messages of at most 4 KiB
  double bytes = 0;
  double seconds = 0;
  HostFrame place;  ///< place of the call; without a function: unknown
};

/// One blocking collective.
struct MpiCollective {
  std::uint64_t communicator = 0;  ///< equal on all of its ranks
  std::uint64_t number = 0;        ///< 0-based number among the communicator's blocking collectives
  std::uint64_t start = 0;         ///< ns, CLOCK_MONOTONIC of its node
  std::uint64_t ns = 0;
  std::uint32_t site = 0;  ///< index into MpiProcess::sites
  std::uint32_t ranks = 0;
};

/// Time of the rank's first thread at one place outside MPI.
struct MpiCompute {
  HostFrame place;
  HostTimes times;
};

struct MpiProcess {
  std::int64_t pid = 0;
  int rank = 0, ranks = 0;
  std::string host, launcher;
  std::uint64_t start = 0, end = 0;  ///< ns, CLOCK_MONOTONIC: end of MPI_Init to MPI_Finalize
  double mpi_s = 0;                  ///< part of that in MPI calls
  bool finalized = false;
  std::uint64_t calls = 0, lost = 0;
  std::uint64_t stride = 1;  ///< only collectives whose number is a multiple of it were kept
  std::vector<MpiSite> sites;
  std::vector<MpiCollective> collectives;
  std::vector<MpiCompute> compute;  ///< largest first; empty: not sampled

  double seconds() const { return static_cast<double>(end - start) * 1e-9; }
  double compute_s() const { return seconds() - mpi_s; }
};

/// The ranks recorded in a folder, by rank. The files are not trusted: damaged ones are added to `defective`.
std::vector<MpiProcess> read_mpi_processes(const std::filesystem::path& folder, std::vector<DefectiveSpool>& defective);

/// Parses one file. Throws Error if it is not a recording.
MpiProcess parse_mpi_process(std::string_view bytes);

}  // namespace roofline
