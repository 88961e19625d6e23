#include "profile/rank_recordings.hpp"

#include <iterator>
#include <utility>

#include "host/files.hpp"
#include "profile/job_traces.hpp"
#include "profile/mpi/mpi_lines.hpp"
#include "sample/samples_file.hpp"

namespace roofline {

namespace fs = std::filesystem;

std::vector<MpiProcess> read_mpi_ranks(const fs::path& folder, const std::optional<HostSamples>& host,
                                       std::vector<DefectiveSpool>& defective) {
  constexpr FileLimit kLinesLimit{std::uint64_t{1} << 28, "a file of source lines"};
  std::vector<MpiProcess> ranks = read_mpi_processes(folder, defective);
  std::error_code hidden;
  if (fs::is_regular_file(folder / kMpiLinesFile, hidden)) {
    read_mpi_lines(read_file(folder / kMpiLinesFile, kLinesLimit), ranks);
    return ranks;
  }
  find_call_lines(ranks);
  if (host) add_compute_lines(ranks, *host);
  return ranks;
}

void add_rank_folders(const std::vector<fs::path>& folders, std::vector<ProcessTrace>& traces, ProgramFacts& facts) {
  constexpr std::size_t kSampled = 16;
  std::size_t sampled = 0;
  std::vector<fs::path> spools;
  for (const fs::path& folder : folders) {
    for (fs::path& spool : spools_in(folder)) spools.push_back(std::move(spool));
    std::optional<HostSamples> host;
    if (sampled < kSampled) host = kept_host_samples(folder);
    std::vector<MpiProcess> ranks = read_mpi_ranks(folder, host, facts.defective_spools);
    const bool same_node = facts.mpi.empty() || ranks.empty() || facts.mpi.front().host == ranks.front().host;
    for (MpiProcess& rank : ranks) facts.mpi.push_back(std::move(rank));
    if (!same_node || !host) continue;
    ++sampled;
    if (facts.host) {
      append(*facts.host, *std::move(host));
    } else {
      facts.host = std::move(host);
    }
  }
  JobTraces job = read_job(spools, facts.defective_spools);
  traces.insert(traces.end(), std::make_move_iterator(job.whole.begin()), std::make_move_iterator(job.whole.end()));
  facts.condensed = std::move(job.condensed);
}

std::optional<HostSamples> kept_host_samples(const fs::path& folder) {
  constexpr FileLimit kSamplesLimit{std::uint64_t{4} << 30, "a file of host samples"};
  std::error_code hidden;
  if (!fs::is_regular_file(folder / kHostSamplesFile, hidden)) return std::nullopt;
  return read_host_samples(read_file(folder / kHostSamplesFile, kSamplesLimit));
}

}  // namespace roofline
