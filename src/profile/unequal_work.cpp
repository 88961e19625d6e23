#include "profile/unequal_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "profile/causes/kernel_names.hpp"
#include "profile/collective_sums.hpp"

namespace roofline {
namespace {

using spool::CollectiveKind;

/// Advice on a part of the step needs at least this share of the difference between the ranks in that part.
constexpr double kMostOfDifference = 0.6;

const LaunchGroup& group_at(const Recording& recording, int group) {
  return recording.groups[static_cast<std::size_t>(group)];
}

bool in_backward(const Recording& recording, const LaunchGroup& group) {
  return recording.traces[static_cast<std::size_t>(group.process)].place(group.kind.place).backward != 0;
}

bool knows_modules(const Recording& recording) {
  return std::ranges::any_of(recording.groups, [](const LaunchGroup& group) { return !group.module.empty(); });
}

/// Seconds that the late rank has more of, in all groups or in those that pass the test.
template <typename Test>
double more_seconds(const RankWork& here, const RankWork& there, Test&& test) {
  double more = 0;
  for (const auto& [group, of] : here) more += test(group) ? of.seconds : 0;
  for (const auto& [group, of] : there) more -= test(group) ? of.seconds : 0;
  return more;
}

/// Launches between a backward pass and the next forward pass whose results go to other ranks before that: updates of
/// parameters that are divided among the ranks.
class UpdateGroups {
 public:
  UpdateGroups(const Job& job, const Recording& recording) : job_(job), recording_(recording) {}

  std::set<int> find(int rank) {
    constexpr double kNearlyAll = 0.8;
    if (!knows_modules(recording_)) return {};  // forward passes are unknown
    count(launches_of(job_.ranks[static_cast<std::size_t>(rank)].process));
    std::set<int> groups;
    for (const auto& [group, launches] : launches_) {
      const auto sent = sent_.find(group);
      if (sent != sent_.end() && sent->second >= kNearlyAll * launches) groups.insert(group);
    }
    return groups;
  }

 private:
  using Launches = std::vector<std::pair<std::uint64_t, int>>;  ///< host time and group

  Launches launches_of(int process) const {
    Launches launches;
    for (const Activity& activity : recording_.activities) {
      if (activity.process != process || activity.launch == nullptr || activity.group < 0) continue;
      launches.emplace_back(activity.launch->start, activity.group);
    }
    std::sort(launches.begin(), launches.end());
    return launches;
  }

  /// Sends parameters or their updates, other than a reduction.
  static bool exchanges(const std::string& symbol) {
    constexpr std::array kExchanges = {CollectiveKind::broadcast, CollectiveKind::all_gather,
                                       CollectiveKind::all_to_all, CollectiveKind::send_recv};
    return std::ranges::find(kExchanges, kind_of_collective(symbol)) != kExchanges.end();
  }

  void count(const Launches& launches) {
    bool after_backward = false;
    std::map<int, double> pending;
    for (const auto& [time, index] : launches) {
      const LaunchGroup& group = group_at(recording_, index);
      const bool backward = in_backward(recording_, group);
      const bool collective = is_collective(group.symbol);
      if (!collective) ++launches_[index];
      if (backward || !group.module.empty() || is_of_inductor(group.symbol)) {
        after_backward = backward;
        pending.clear();
      } else if (after_backward && collective && exchanges(group.symbol)) {
        for (const auto& [of, count] : pending) sent_[of] += count;
        pending.clear();
      } else if (after_backward && !collective) {
        ++pending[index];
      }
    }
  }

  const Job& job_;
  const Recording& recording_;
  std::map<int, double> launches_, sent_;  ///< by group
};

bool updates_differ(const Job& job, const Recording& recording, const RankWork& here, const RankWork& there, int rank,
                    int other, double more) {
  std::set<int> updates = UpdateGroups(job, recording).find(rank);
  updates.merge(UpdateGroups(job, recording).find(other));
  return more_seconds(here, there, [&](int group) { return updates.contains(group); }) >= kMostOfDifference * more;
}

/// Attention and the other kernels of one rank.
struct AttentionWork {
  double launches = 0, others = 0, others_s = 0;
  std::set<std::array<std::uint32_t, 3>> grids = {};  ///< of forward kernels: a block for each part of the queries
  std::set<std::string> modules = {};
};

AttentionWork attention_work(const Recording& recording, const RankWork& work) {
  AttentionWork sum;
  for (const auto& [index, of] : work) {
    const LaunchGroup& group = group_at(recording, index);
    if (!is_attention(group.symbol)) {
      sum.others += of.launches;
      sum.others_s += of.seconds;
      continue;
    }
    sum.launches += of.launches;
    if (!group.module.empty()) sum.modules.insert(group.module);
    if (is_attention_forward(group.symbol)) {
      sum.grids.insert({group.kind.grid[0], group.kind.grid[1], group.kind.grid[2]});
    }
  }
  return sum;
}

/// True if the forward pass of a module with attention, or of a part of it, exchanges tensors with other ranks.
bool attention_exchanges(const Recording& recording, const std::set<std::string>& modules) {
  return std::ranges::any_of(recording.groups, [&](const LaunchGroup& group) {
    if (!is_collective(group.symbol) || group.module.empty() || in_backward(recording, group)) return false;
    const CollectiveKind kind = kind_of_collective(group.symbol);
    const bool exchange = kind == CollectiveKind::all_gather || kind == CollectiveKind::send_recv;
    return exchange && std::ranges::any_of(modules, [&](const std::string& module) {
             return group.module == module || group.module.starts_with(module + ".");
           });
  });
}

/// True if the ranks have equally many queries, and one of them more keys, as in parts of one sequence under a causal
/// mask: equal launches and grids, equal other work, and keys or their parts from other ranks.
bool keys_differ(const Recording& recording, const RankWork& here, const RankWork& there, double more) {
  constexpr double kEqual = 0.02, kSimilar = 0.25;
  const auto attention = [&](int group) { return is_attention(group_at(recording, group).symbol); };
  if (more_seconds(here, there, attention) < kMostOfDifference * more) return false;
  const AttentionWork late = attention_work(recording, here), other = attention_work(recording, there);
  const auto differ = [](double a, double b) { return std::abs(a - b) / std::max({a, b, 1e-12}); };
  return late.grids == other.grids && differ(late.launches, other.launches) <= kEqual &&
         differ(late.others, other.others) <= kEqual && differ(late.others_s, other.others_s) <= kSimilar &&
         attention_exchanges(recording, late.modules);
}

}  // namespace

std::vector<LineDifference> line_differences(const Recording& recording, const RankWork& here, const RankWork& there,
                                             bool by_time) {
  std::map<std::string, LineDifference> lines;
  const auto add = [&](const RankWork& work, double LineDifference::*side) {
    for (const auto& [group, of] : work) {
      lines[line_of_group(recording, group)].*side += by_time ? of.seconds : of.launches;
    }
  };
  add(here, &LineDifference::here);
  add(there, &LineDifference::there);
  std::vector<LineDifference> sorted;
  for (auto& [line, of] : lines) {
    of.line = line;
    sorted.push_back(std::move(of));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.more() > b.more(); });
  return sorted;
}

double share_of_more(const std::vector<LineDifference>& lines, const LineDifference& line) {
  double more = 0;
  for (const LineDifference& of : lines) more += std::max(0.0, of.more());
  return more > 0 ? line.more() / more : 0;
}

bool works_outside_model(const Recording& recording, const RankWork& here, const RankWork& there) {
  const double more = more_seconds(here, there, [](int) { return true; });
  const double outside = more_seconds(here, there, [&](int index) {
    const LaunchGroup& group = group_at(recording, index);
    return group.module.empty() && !in_backward(recording, group);
  });
  return more > 0 && knows_modules(recording) && outside >= kMostOfDifference * more;
}

CauseDetail detail_of_unequal_work(const Job& job, const Recording& recording, const std::vector<RankWork>& work,
                                   int rank, int other) {
  const RankWork &here = work[static_cast<std::size_t>(rank)], &there = work[static_cast<std::size_t>(other)];
  const double more = more_seconds(here, there, [](int) { return true; });
  if (!(more > 0)) return CauseDetail::none;
  if (updates_differ(job, recording, here, there, rank, other, more)) return CauseDetail::uneven_updates;
  return keys_differ(recording, here, there, more) ? CauseDetail::split_sequence : CauseDetail::none;
}

}  // namespace roofline
