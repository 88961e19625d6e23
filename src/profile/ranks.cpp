#include "profile/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "measure/statistics.hpp"
#include "measure/summary.hpp"
#include "model/bound.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/collective_sums.hpp"

namespace roofline {
namespace {

/// By group: whether its kernels are collectives.
struct CallsOfKernel {
  const spool::Collective* first = nullptr;
  std::uint64_t bytes = 0;  ///< of all calls that it does
  std::uint32_t calls = 0;
};
using CallsByCorrelation = std::unordered_map<std::uint32_t, CallsOfKernel>;

CallsByCorrelation calls_by_correlation(const ProcessTrace& trace) {
  CallsByCorrelation calls;
  for (const spool::Collective& call : trace.collectives) {
    if (call.correlation == 0) continue;
    CallsOfKernel& of = calls[call.correlation];
    if (of.first == nullptr) of.first = &call;
    of.bytes += call.bytes;
    of.calls += call.calls;
  }
  return calls;
}

CollectiveKernel kernel_of(const Activity& activity, const Recording& recording, const CallsByCorrelation& calls) {
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(activity.process)];
  CollectiveKernel kernel;
  kernel.span = {activity.start, activity.end};
  kernel.group = activity.group;
  kernel.kind = kind_of_collective(recording.groups[static_cast<std::size_t>(activity.group)].symbol);
  const auto found = calls.find(trace.kernels[activity.index].correlation);
  if (found == calls.end() || activity.graph >= 0) return kernel;
  const spool::Collective& call = *found->second.first;
  const spool::Communicator& communicator = trace.communicator(call.communicator);
  kernel.kind = call.kind;
  kernel.communicator = communicator.hash;
  kernel.sequence = call.sequence;
  kernel.bytes = found->second.bytes;
  kernel.ranks = communicator.ranks;
  kernel.calls = found->second.calls;
  // An all-to-all of one call is the library's own.
  kernel.exchange = call.kind == spool::CollectiveKind::send_recv ||
                    (call.kind == spool::CollectiveKind::all_to_all && (call.flags & spool::kGrouped) != 0);
  // With data for the rank itself it is an all-to-all, also among two.
  const bool to_all = communicator.ranks > 1 && call.calls / 2 >= communicator.ranks;
  if (kernel.exchange && to_all) kernel.kind = spool::CollectiveKind::all_to_all;
  return kernel;
}

/// Process and device of every GPU with collectives, and how many.
std::map<std::pair<int, int>, std::int64_t> ranks_with_collectives(const Recording& recording) {
  const std::vector<bool> groups = collective_groups(recording);
  std::map<std::pair<int, int>, std::int64_t> found;
  for (const Activity& activity : recording.activities) {
    const auto process = static_cast<std::size_t>(activity.process);
    if (is_of_collectives(activity, groups) && !recording.traces[process].counts_only) {
      ++found[{activity.process, activity.device}];
    }
  }
  return found;
}

std::vector<JobRank> find_ranks(const Recording& recording) {
  const auto found = ranks_with_collectives(recording);
  std::map<int, int> devices_of;
  for (const auto& [where, count] : found) ++devices_of[where.first];
  // A restarted rank occurs twice; the one with more collectives is kept.
  std::map<int, std::pair<JobRank, std::int64_t>> known;
  std::vector<JobRank> others;
  for (const auto& [where, count] : found) {
    const auto& rank = recording.traces[static_cast<std::size_t>(where.first)].rank;
    JobRank entry = {-1, where.first, where.second};
    if (!rank || devices_of[where.first] > 1) {
      others.push_back(entry);
      continue;
    }
    entry.rank = static_cast<int>(rank->rank);
    auto& kept = known[entry.rank];
    if (count > kept.second) kept = {entry, count};
  }
  std::stable_sort(others.begin(), others.end(), [&](const JobRank& a, const JobRank& b) {
    const auto index = [&](const JobRank& of) {
      return recording.devices[static_cast<std::size_t>(of.device)].about.index;
    };
    return index(a) < index(b);
  });
  std::vector<JobRank> ranks;
  for (const auto& [rank, entry] : known) ranks.push_back(entry.first);
  int next = ranks.empty() ? 0 : ranks.back().rank + 1;
  for (JobRank& rank : others) {
    rank.rank = next++;
    ranks.push_back(rank);
  }
  return ranks;
}

void fill_timelines(Job& job, const Recording& recording) {
  const std::vector<bool> groups = collective_groups(recording);
  std::map<std::pair<int, int>, std::size_t> by_place;
  std::map<int, CallsByCorrelation> calls;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const JobRank& rank = job.ranks[i];
    by_place[{rank.process, rank.device}] = i;
    calls.try_emplace(rank.process, calls_by_correlation(recording.traces[static_cast<std::size_t>(rank.process)]));
  }
  job.timelines.resize(job.ranks.size());
  for (const Activity& activity : recording.activities) {
    const auto place = by_place.find({activity.process, activity.device});
    if (place == by_place.end()) continue;
    RankTimeline& timeline = job.timelines[place->second];
    if (is_of_collectives(activity, groups)) {
      timeline.collectives.push_back(kernel_of(activity, recording, calls.at(activity.process)));
    } else {
      (activity.what == ActivityKind::kernel ? timeline.compute : timeline.copies)
          .push_back({activity.start, activity.end});
    }
  }
  for (RankTimeline& timeline : job.timelines) {
    timeline.compute = covered(std::move(timeline.compute));
    timeline.copies = covered(std::move(timeline.copies));
  }
}

/// The transfers of one row.
struct RowTransfers {
  std::vector<double> seconds;
  double least_bytes = 0, most_bytes = 0;
  std::string_view name;
  int ranks = 0;
};

}  // namespace

std::vector<bool> collective_groups(const Recording& recording) {
  std::vector<bool> groups;
  for (const LaunchGroup& group : recording.groups) groups.push_back(is_collective(group.symbol));
  return groups;
}

bool is_of_collectives(const Activity& activity, const std::vector<bool>& groups) {
  return activity.group >= 0 && groups[static_cast<std::size_t>(activity.group)];
}

std::vector<int> processes_with_collectives(const Recording& recording) {
  if (recording.traces.size() < 2) return {};
  std::set<int> processes;
  for (const auto& [where, count] : ranks_with_collectives(recording)) processes.insert(where.first);
  if (processes.size() < 2) return {};
  return {processes.begin(), processes.end()};
}

double Job::bytes(const MatchedCollective& collective) const {
  for (const RankArrival& arrival : collective.arrivals) {
    if (const std::uint64_t bytes = kernel(arrival).bytes; bytes != 0) return static_cast<double>(bytes);
  }
  return 0;
}

std::optional<Job> job_of(const Recording& recording) {
  Job job;
  job.ranks = find_ranks(recording);
  if (job.ranks.size() < 2) return std::nullopt;
  for (const JobRank& rank : job.ranks) job.traces.push_back(&recording.traces[static_cast<std::size_t>(rank.process)]);
  fill_timelines(job, recording);
  job.matched = match_collectives(job.timelines);
  for (const MatchedCollective& collective : job.matched) {
    if (job.kernel(collective.arrivals.front()).communicator != 0) job.matching = RankMatching::calls;
  }
  return job;
}

std::vector<RankWork> rank_work(const Job& job, const Recording& recording, const std::vector<Span>& steps) {
  const std::vector<bool> groups = collective_groups(recording);
  std::map<std::pair<int, int>, std::size_t> by_place;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) by_place[{job.ranks[i].process, job.ranks[i].device}] = i;
  std::vector<RankWork> work(job.ranks.size());
  Within within(steps);
  for (const Activity& activity : recording.activities) {
    if (activity.what != ActivityKind::kernel || is_of_collectives(activity, groups) || !within(activity.start))
      continue;
    const auto place = by_place.find({activity.process, activity.device});
    if (place == by_place.end()) continue;
    SignatureWork& of = work[place->second][activity.group];
    ++of.launches;
    of.seconds += seconds(activity.end - activity.start);
  }
  return work;
}

void add_collective_roofs(const Job& job, const Machine& machine, std::vector<Point>& points) {
  constexpr double kOneSize = 1.1;
  std::map<int, RowTransfers> rows;
  for (const MatchedCollective& collective : job.matched) {
    const CollectiveKernel& first = job.kernel(collective.arrivals.front());
    const double bytes = job.bytes(collective);
    std::set<int> groups;
    for (const RankArrival& arrival : collective.arrivals) groups.insert(job.kernel(arrival).group);
    for (const int group : groups) {
      RowTransfers& row = rows[group];
      row.least_bytes = row.seconds.empty() ? bytes : std::min(row.least_bytes, bytes);
      row.most_bytes = std::max(row.most_bytes, bytes);
      row.name = collective_name(first.kind);
      row.ranks = static_cast<int>(collective.arrivals.size());
      row.seconds.push_back(collective.transfer_s());
    }
  }
  for (auto& [group, row] : rows) {
    if (group < 0) continue;
    Point& point = points[static_cast<std::size_t>(group)];
    if (!point.profiled || row.most_bytes > kOneSize * row.least_bytes) continue;
    const std::optional<Work> work = work_of_collective(row.name, row.ranks, row.most_bytes);
    if (!work) continue;
    const Bound bound = bound_of(*work, machine);
    if (!std::isfinite(bound.attainable_time_s)) {
      point.profiled->not_counted = "no roof of NCCL for so many GPUs: run roofline calibrate with as many";
      continue;
    }
    point.work = *work;
    point.bound = bound;
    point.counters.reset();
    point.profiled->work_source = WorkSource::modelled;
    point.profiled->not_counted.clear();
    point.time = summarize(row.seconds);
  }
}

void add_rank_parts(const Job& job, const RankSteps& steps, const Recording& recording, const RowTimes& rows,
                    const std::vector<Point>& points, Steps& to) {
  for (WallTime& wall : to.devices) {
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
      if (job.ranks[i].device != wall.device) continue;
      wall.rank_wait_s += steps.parts[i].waiting_s;
      wall.communication_s += steps.parts[i].transfer_s;
    }
    // With two ranks on one GPU, the collectives of one overlap the kernels of the other.
    const double most = wall.kernels_s, both = wall.rank_wait_s + wall.communication_s;
    if (both > most) {
      wall.rank_wait_s *= most / both;
      wall.communication_s *= most / both;
    }
  }
  RowTimes others = rows;
  const std::vector<bool> groups = collective_groups(recording);
  std::erase_if(others, [&](const auto& row) { return groups[static_cast<std::size_t>(row.first.first)]; });
  for (WallTime& wall : to.devices) wall.kernel_s = wall.roofed_s = wall.at_roof_s = 0;
  add_roofs(to.devices, others, points);
  to.at_roof_s = 0;
  for (const WallTime& wall : to.devices) to.at_roof_s += wall.at_roof_s / static_cast<double>(to.count);
}

Ranks ranks_report(const Job& job, const RankSteps& steps, const Recording& recording, const std::vector<Span>& spans,
                   const Machine& machine) {
  Ranks report;
  const double count = static_cast<double>(std::max<std::size_t>(1, steps.step_s.size()));
  report.step_s = steps.total_s() / count;
  report.matching = job.matching;
  report.matched_share = steps.collectives_s > 0 ? steps.matched_s / steps.collectives_s : 0;
  report.size = static_cast<int>(job.ranks.size());
  // The rank that most of a step's waiting is for.
  std::vector<double> last(job.ranks.size());
  for (std::size_t step = 0; step < steps.step_s.size(); ++step) {
    std::size_t latest = 0;
    for (std::size_t rank = 1; rank < steps.late.size(); ++rank) {
      if (steps.late[rank][step] > steps.late[latest][step]) latest = rank;
    }
    if (steps.late[latest][step] > 0) ++last[latest];
  }
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const ProcessTrace& trace = *job.traces[i];
    const RankParts& parts = steps.parts[i];
    RankSum sum;
    sum.rank = job.ranks[i].rank;
    sum.pid = trace.process.pid;
    sum.device = job.ranks[i].device;
    if (trace.rank) {
      sum.host = trace.text(trace.rank->host);
      report.launcher = trace.text(trace.rank->launcher);
      report.size = std::max(report.size, static_cast<int>(trace.rank->ranks));
    }
    sum.compute_s = parts.compute_s / count;
    sum.waiting_s = parts.waiting_s / count;
    sum.transfer_s = parts.transfer_s / count;
    sum.copies_s = parts.copies_s / count;
    sum.idle_s = parts.idle_s / count;
    sum.overlapped_s = parts.overlapped_s / count;
    for (const float late : steps.late[i]) sum.caused_wait_s += late / count;
    sum.last_share = last[i] / count;
    report.ranks.push_back(std::move(sum));
  }
  report.collectives = collective_sums(job, recording, spans, machine);
  return report;
}

}  // namespace roofline
