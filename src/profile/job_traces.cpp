#include "profile/job_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "model/error.hpp"
#include "profile/condensed_trace.hpp"
#include "profile/rank_steps.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWhole = 16, kChosen = 8;

/// The condensed trace that a rank has written beside its spool.
std::optional<ProcessTrace> read_condensed(const fs::path& spool) {
  fs::path file = spool;
  file.replace_extension(kCondensedExtension);
  std::error_code hidden;
  if (!fs::is_regular_file(file, hidden)) return std::nullopt;
  try {
    ProcessTrace trace = read_spool(file);
    if (trace.process.pid != 0 && trace.unread_bytes == 0 && can_be_condensed(trace)) return trace;
  } catch (const Error&) {  // the spool itself has all
  }
  return std::nullopt;
}

/// Windows of one length over the time that the matched collectives take.
std::vector<Span> windows_of(const Job& job) {
  constexpr std::uint64_t kWindows = 50;
  std::vector<Span> windows;
  if (job.matched.empty()) return windows;
  const std::uint64_t start = job.matched.front().start, length = (job.matched.back().end - start) / kWindows;
  for (std::uint64_t i = 0; i < kWindows && length > 0; ++i) {
    windows.push_back({start + i * length, start + (i + 1) * length});
  }
  return windows;
}

/// Indices of the traces that are worth reading whole.
std::set<std::size_t> chosen_of(const std::vector<ProcessTrace>& traces) {
  std::set<std::size_t> chosen = {0};
  const Recording recording(traces);
  if (const std::optional<Job> job = job_of(recording)) {
    const RankSteps steps = rank_steps(job->timelines, job->matched, windows_of(*job));
    const auto choose = [&](int rank) {
      if (chosen.size() < kChosen) {
        chosen.insert(static_cast<std::size_t>(job->ranks[static_cast<std::size_t>(rank)].process));
      }
    };
    LateRanks late = find_late_ranks(steps).value_or(LateRanks());
    choose(typical_rank(steps, late));
    constexpr std::size_t kMostLate = 4;
    for (std::size_t i = 0; i < std::min(kMostLate, late.ranks.size()); ++i) choose(late.ranks[i]);
  }
  for (std::size_t i = 1; i < kChosen && chosen.size() < kChosen; ++i) chosen.insert(i * traces.size() / kChosen);
  return chosen;
}

}  // namespace

JobTraces read_job(const std::vector<fs::path>& spools, std::vector<DefectiveSpool>& defective) {
  JobTraces job;
  std::vector<fs::path> files;  // of the condensed traces
  const bool many = spools.size() > kMostWhole;
  for (const fs::path& spool : spools) {
    std::optional<ProcessTrace> trace = many ? read_condensed(spool) : std::nullopt;
    if (!trace) {
      trace = read_listed_spool(spool, defective);
      if (!trace) continue;
      if (!many || !can_be_condensed(*trace)) {
        job.whole.push_back(*std::move(trace));
        continue;
      }
      trace = condensed(*trace);
    }
    job.condensed.push_back(*std::move(trace));
    files.push_back(spool);
  }
  if (!job.condensed.empty()) {
    std::vector<ProcessTrace> others;
    std::vector<DefectiveSpool> again;  // known already
    const std::set<std::size_t> chosen = chosen_of(job.condensed);
    for (std::size_t i = 0; i < job.condensed.size(); ++i) {
      std::optional<ProcessTrace> whole = chosen.contains(i) ? read_listed_spool(files[i], again) : std::nullopt;
      if (whole) {
        job.whole.push_back(*std::move(whole));
      } else {
        others.push_back(std::move(job.condensed[i]));
      }
    }
    job.condensed = std::move(others);
  }
  std::ranges::stable_sort(job.whole, {}, [](const ProcessTrace& trace) { return trace.process.start; });
  std::ranges::stable_sort(job.condensed, {}, [](const ProcessTrace& trace) { return trace.rank->rank; });
  return job;
}

void refer_to(const Recording& recording, const Recording& all, Job& job) {
  std::map<std::string_view, int> known;
  for (std::size_t i = 0; i < recording.groups.size(); ++i) {
    known.try_emplace(recording.groups[i].identity, static_cast<int>(i));
  }
  std::vector<int> group_of;
  for (const LaunchGroup& group : all.groups) {
    const auto found = known.find(group.identity);
    group_of.push_back(found == known.end() ? -1 : found->second);
  }
  for (RankTimeline& timeline : job.timelines) {
    for (CollectiveKernel& kernel : timeline.collectives) {
      kernel.group = kernel.group < 0 ? -1 : group_of[static_cast<std::size_t>(kernel.group)];
    }
  }
  for (JobRank& rank : job.ranks) {
    if (static_cast<std::size_t>(rank.process) >= recording.traces.size()) rank.device = -1;
  }
}

std::string about_whole_ranks(const Job& job) {
  std::vector<int> whole;
  for (const JobRank& rank : job.ranks) {
    if (rank.device >= 0) whole.push_back(rank.rank);
  }
  return fmt::format("times by rank cover {} ranks; rows, lines and idle time cover ranks {}",
                     count(static_cast<std::int64_t>(job.ranks.size())), fmt::join(whole, ", "));
}

}  // namespace roofline
