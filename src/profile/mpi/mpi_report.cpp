// The ranks of a CPU job in the report of a profile.
#include <algorithm>
#include <vector>

#include "profile/mpi/mpi_ranks.hpp"

namespace roofline {

namespace {

bool same_rank(const MpiProcess& a, const MpiProcess& b) { return a.rank == b.rank; }

/// If a rank was restarted, its longer run.
std::vector<MpiProcess> longest_runs(const std::vector<MpiProcess>& recorded) {
  std::vector<MpiProcess> ranks;
  for (const MpiProcess& process : recorded) {
    if (ranks.empty() || !same_rank(ranks.back(), process)) {
      ranks.push_back(process);
    } else if (process.seconds() > ranks.back().seconds()) {
      ranks.back() = process;
    }
  }
  return ranks;
}

}  // namespace

void add_mpi_ranks(Report& report, const std::vector<MpiProcess>& recorded) {
  Profile& profile = *report.profile;
  const bool again = std::ranges::adjacent_find(recorded, same_rank) != recorded.end();
  const std::vector<MpiProcess> longest = again ? longest_runs(recorded) : std::vector<MpiProcess>();
  const std::vector<MpiProcess>& ranks = again ? longest : recorded;  // many are large: they are not copied
  if (profile.ranks || ranks.size() < 2) return;
  profile.why_no_steps.clear();  // times are of the run
  const MpiWaits waits = mpi_waits(ranks);
  profile.ranks = mpi_ranks(ranks, waits);
  const std::vector<Saving> found = mpi_savings(ranks, waits);
  const auto times =
      std::ranges::find_if(profile.savings, [](const Saving& saving) { return saving.kind != SavingKind::memory; });
  profile.savings.insert(times, found.begin(), found.end());
  if (profile.host && std::ranges::all_of(ranks, [](const MpiProcess& rank) { return rank.compute.empty(); })) {
    report.notes.emplace_back(
        "no source lines of the ranks: they are not child processes of roofline (srun starts them elsewhere); run "
        "srun roofline profile -- PROGRAM");
  }
}

}  // namespace roofline
