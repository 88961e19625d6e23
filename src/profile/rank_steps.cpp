#include "profile/rank_steps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

/// Minimum fraction of the steps' time for a finding.
constexpr double kLeastLate = 0.03;

class RankStepsBuilder {
 public:
  RankStepsBuilder(const std::vector<RankTimeline>& ranks, const std::vector<MatchedCollective>& matched,
                   const std::vector<Span>& steps)
      : ranks_(ranks), matched_(matched), steps_(steps) {}

  RankSteps build() {
    for (const Span& step : steps_) result_.step_s.push_back(seconds(step.length()));
    result_.late.assign(ranks_.size(), std::vector<float>(steps_.size(), 0));
    result_.waited = result_.late;
    // When each kernel's transfer begins; 0: it was not matched.
    met_.resize(steps_.size());
    begins_.resize(ranks_.size());
    ends_.resize(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) begins_[rank].resize(ranks_[rank].collectives.size());
    for (const MatchedCollective& collective : matched_) add(collective);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) result_.parts.push_back(parts_of(rank));
    add_unequal();
    return std::move(result_);
  }

 private:
  /// Ranks are at the same point of the program at the end of a large collective, as that of the last gradients. Steps
  /// may begin elsewhere.
  void add_unequal() {
    std::vector<Span> windows;
    for (std::size_t step = 1; step < steps_.size(); ++step) {
      const bool adjacent = steps_[step].start == steps_[step - 1].end;
      if (adjacent && met_[step - 1] != 0 && met_[step] > met_[step - 1])
        windows.push_back({met_[step - 1], met_[step]});
    }
    if (windows.empty()) windows = steps_;
    for (const Span& window : windows) result_.unequal_s += unequal_s(window);
    result_.unequal_s *=
        static_cast<double>(steps_.size()) / static_cast<double>(std::max<std::size_t>(1, windows.size()));
  }

  double unequal_s(const Span& window) const {
    double most = 0, all = 0;
    for (const RankTimeline& rank : ranks_) {
      const double computed = seconds(total_length(parts_within(window, rank.compute)));
      most = std::max(most, computed);
      all += computed;
    }
    return most * static_cast<double>(ranks_.size()) - all;
  }

  void add(const MatchedCollective& collective) {
    const std::size_t step = span_at(steps_, collective.start);
    const auto last = static_cast<std::size_t>(collective.last);
    double waited = 0, computed = 0, of_last = 0;
    for (const RankArrival& arrival : collective.arrivals) {
      const auto rank = static_cast<std::size_t>(arrival.rank);
      begins_[rank][arrival.kernel] = collective.start;
      const Span& span = ranks_[rank].collectives[arrival.kernel].span;
      const double compute_s = computed_until(rank, span);
      (rank == last ? of_last : computed) += compute_s;
      if (rank == last || step == steps_.size()) continue;
      const Span waiting = {span.start, std::min(span.end, collective.start)};
      waited += seconds(uncovered_length(waiting, steps_, ranks_[rank].compute));
    }
    if (step == steps_.size()) return;
    const RankArrival& any = collective.arrivals.front();
    const bool large = ranks_[static_cast<std::size_t>(any.rank)].collectives[any.kernel].bytes > kLatencyBound;
    if (large && collective.arrivals.size() == ranks_.size()) met_[step] = std::max(met_[step], collective.end);
    const auto others = static_cast<double>(collective.arrivals.size() - 1);
    result_.waited[last][step] += static_cast<float>(waited);
    result_.late[last][step] += static_cast<float>(waited / others);
    result_.late_by_compute_s += std::min(waited / others, std::max(0.0, of_last - computed / others));
  }

  /// Seconds in which other kernels ran since the rank's collective before.
  double computed_until(std::size_t rank, const Span& span) {
    const Span since = {std::min(ends_[rank], span.start), span.start};
    ends_[rank] = span.end;
    return seconds(total_length(parts_within(since, ranks_[rank].compute)));
  }

  RankParts parts_of(std::size_t rank) {
    const RankTimeline& timeline = ranks_[rank];
    std::vector<Span> waiting, transfer, all;
    for (std::size_t i = 0; i < timeline.collectives.size(); ++i) {
      const Span& span = timeline.collectives[i].span;
      const std::uint64_t begin = begins_[rank][i];
      const std::uint64_t from = std::clamp(begin, span.start, span.end);
      waiting.push_back({span.start, begin != 0 ? from : span.start});
      transfer.push_back({begin != 0 ? from : span.start, span.end});
      all.push_back(span);
      const double time = seconds(total_length(parts_within(span, steps_)));
      result_.collectives_s += time;
      if (begin != 0) result_.matched_s += time;
    }
    RankParts parts;
    std::vector<Span> left = steps_;
    const auto take = [&left](const std::vector<Span>& by) {
      const double taken = seconds(total_length(common(left, by)));
      left = uncovered(left, by);
      return taken;
    };
    parts.overlapped_s = seconds(total_length(common(common(covered(std::move(all)), timeline.compute), steps_)));
    parts.compute_s = take(timeline.compute);
    parts.transfer_s = take(covered(std::move(transfer)));
    parts.waiting_s = take(covered(std::move(waiting)));
    parts.copies_s = take(timeline.copies);
    parts.idle_s = seconds(total_length(left));
    return parts;
  }

  const std::vector<RankTimeline>& ranks_;
  const std::vector<MatchedCollective>& matched_;
  const std::vector<Span>& steps_;
  std::vector<std::vector<std::uint64_t>> begins_;
  std::vector<std::uint64_t> met_;   ///< by step: end of its last large collective of all ranks; 0: none
  std::vector<std::uint64_t> ends_;  ///< by rank: of its last collective so far
  RankSteps result_;
};

double sum_of_steps(const std::vector<float>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double sum_of_ranks(const std::vector<std::vector<float>>& values) {
  double sum = 0;
  for (const std::vector<float>& of : values) sum += sum_of_steps(of);
  return sum;
}

/// The fewest ranks that cause most of the waiting, latest first; none where that takes too many of them.
std::vector<std::size_t> few_late_ranks(const std::vector<double>& late) {
  constexpr double kMost = 0.65;
  const double all = std::accumulate(late.begin(), late.end(), 0.0);
  std::vector<std::size_t> order(late.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return late[a] > late[b]; });
  const std::size_t most = std::max<std::size_t>(1, late.size() / 4);
  double sum = 0;
  for (std::size_t i = 0; i < most; ++i) {
    sum += late[order[i]];
    if (sum < kMost * all) continue;
    order.resize(i + 1);
    return order;
  }
  return {};
}

/// Share of all waiting.
constexpr double kNearlyAll = 0.85;

/// True if that many steps are beyond chance, assuming a probability of one half per step. `share`: fraction of the
/// waiting.
bool is_consistent(std::int64_t steps, std::int64_t of, double share) {
  const double deviations = share >= kNearlyAll ? 2.2 : 3.5;  // of a fair coin: 2.2 are five of five, or 16 of 22
  const auto count = static_cast<double>(of);
  return of > 0 && (static_cast<double>(steps) - count / 2) / std::sqrt(count / 4) >= deviations;
}

/// Excess of the late rank over the launches that both ranks have, and their fraction of its time.
struct SameLaunches {
  double here_s = 0, there_s = 0;  ///< there: as many launches at the other's times
  double slower_s = 0;             ///< of here_s: signatures that take longer by at least a quarter of that
};

SameLaunches same_launches(const RankWork& late, const RankWork& other) {
  SameLaunches same;
  const auto there = [&](int group, const SignatureWork& here) {
    const auto found = other.find(group);
    const bool both = found != other.end() && found->second.launches > 0 && here.launches > 0;
    return both ? here.launches * found->second.seconds / found->second.launches : 0;
  };
  for (const auto& [group, here] : late) {
    if (!(there(group, here) > 0)) continue;
    same.here_s += here.seconds;
    same.there_s += there(group, here);
  }
  // Another program on the GPU, or a low clock, slows some kernels more than others.
  const double quarter = same.there_s > 0 ? 1 + (same.here_s / same.there_s - 1) / 4 : 1;
  for (const auto& [group, here] : late) {
    if (there(group, here) > 0 && here.seconds > quarter * there(group, here)) same.slower_s += here.seconds;
  }
  return same;
}

double launches_of(const RankWork& work) {
  double sum = 0;
  for (const auto& [group, of] : work) sum += of.launches;
  return sum;
}

std::optional<LateRanks> late_ranks_of(const RankSteps& steps) {
  constexpr double kNoticeable = 0.02;  // of a step
  constexpr double kMostOfStep = 0.5;
  std::vector<double> late;
  for (const std::vector<float>& of : steps.late) late.push_back(sum_of_steps(of));
  LateRanks found;
  for (const std::size_t rank : few_late_ranks(late)) {
    found.ranks.push_back(static_cast<int>(rank));
    found.late_s += late[rank];
    found.waited_s += sum_of_steps(steps.waited[rank]);
  }
  // Waiting that remains for an average rank.
  const auto few = static_cast<double>(found.ranks.size());
  const double all_late = steps.late_s(), all_waited = steps.waited_s();
  const double others = std::max(1.0, static_cast<double>(late.size()) - few);
  const double share = all_late > 0 ? found.late_s / all_late : 0;
  found.waited_s = std::max(0.0, found.waited_s - few * (all_waited - found.waited_s) / others);
  found.late_s = std::max(0.0, found.late_s - few * (all_late - found.late_s) / others);
  if (found.ranks.empty() || found.late_s < kLeastLate * steps.total_s()) return std::nullopt;
  for (std::size_t step = 0; step < steps.step_s.size(); ++step) {
    double all = 0, of_them = 0;
    for (const std::vector<float>& of : steps.late) all += of[step];
    for (const int rank : found.ranks) of_them += steps.late[static_cast<std::size_t>(rank)][step];
    if (all < kNoticeable * steps.step_s[step]) continue;
    ++found.waiting;
    if (of_them > kMostOfStep * all) ++found.steps;
  }
  found.seldom = !is_consistent(found.steps, found.waiting, share);
  constexpr double kMuch = 0.2;  // of the steps: a wait for one rank that is seen once
  const bool is_enough = found.steps >= 2 || found.late_s >= kMuch * steps.total_s();
  if (found.seldom && (share < kNearlyAll || !is_enough)) return std::nullopt;
  return found;
}

/// Without the steps that take more than twice the median; std::nullopt if there are none, or too many.
std::optional<RankSteps> usual_steps(const RankSteps& steps) {
  constexpr double kUsual = 2;
  constexpr double kMost = 0.75;  // of the steps have to be usual
  if (steps.step_s.empty()) return std::nullopt;
  const double limit = kUsual * median(std::vector<double>(steps.step_s.begin(), steps.step_s.end()));
  RankSteps usual = steps;
  const auto keep = [&](auto& values) {
    std::size_t kept = 0;
    for (std::size_t step = 0; step < steps.step_s.size(); ++step) {
      if (steps.step_s[step] <= limit) values[kept++] = values[step];
    }
    values.resize(kept);
  };
  keep(usual.step_s);
  for (auto& of : usual.late) keep(of);
  for (auto& of : usual.waited) keep(of);
  const auto all = static_cast<double>(steps.step_s.size()), kept = static_cast<double>(usual.step_s.size());
  return kept < all && kept >= kMost * all ? std::optional(std::move(usual)) : std::nullopt;
}

}  // namespace

double RankSteps::total_s() const { return std::accumulate(step_s.begin(), step_s.end(), 0.0); }

double RankSteps::late_s() const { return sum_of_ranks(late); }

double RankSteps::waited_s() const { return sum_of_ranks(waited); }

RankSteps rank_steps(const std::vector<RankTimeline>& ranks, const std::vector<MatchedCollective>& matched,
                     const std::vector<Span>& steps) {
  return RankStepsBuilder(ranks, matched, steps).build();
}

std::optional<LateRanks> possible_late_ranks(const RankSteps& steps) {
  if (std::optional<LateRanks> found = late_ranks_of(steps)) return found;
  // A few steps that took far longer, as those in which a rank compiles, may hide who is late in all others.
  const std::optional<RankSteps> usual = usual_steps(steps);
  return usual ? late_ranks_of(*usual) : std::nullopt;
}

std::optional<LateRanks> find_late_ranks(const RankSteps& steps) {
  std::optional<LateRanks> found = possible_late_ranks(steps);
  if (found && found->seldom) return std::nullopt;
  return found;
}

int typical_rank(const RankSteps& steps, const LateRanks& late, const std::vector<RankWork>& work) {
  const bool some = std::ranges::any_of(work, [](const RankWork& of) { return !of.empty(); });
  std::vector<int> others;
  for (std::size_t rank = 0; rank < steps.parts.size(); ++rank) {
    const bool is_late = std::find(late.ranks.begin(), late.ranks.end(), static_cast<int>(rank)) != late.ranks.end();
    if (!is_late && (!some || !work[rank].empty())) others.push_back(static_cast<int>(rank));
  }
  std::stable_sort(others.begin(), others.end(), [&](int a, int b) {
    return steps.parts[static_cast<std::size_t>(a)].compute_s < steps.parts[static_cast<std::size_t>(b)].compute_s;
  });
  return others.empty() ? 0 : others[(others.size() - 1) / 2];
}

LateCause cause_of_late_rank(const RankSteps& steps, const LateRanks& late, const std::vector<RankWork>& work) {
  constexpr double kExplains = 0.5;    // of the waiting
  constexpr double kMostOfWork = 0.7;  // that both ranks have, or that is slower
  constexpr double kMoreLaunches = 1.1;
  constexpr double kMostPerLaunch = 200e-6;  // s of a host: a framework's way to a launch takes less
  LateCause cause;
  cause.rank = late.ranks.front();
  cause.other = typical_rank(steps, late, work);
  const auto here = static_cast<std::size_t>(cause.rank), there = static_cast<std::size_t>(cause.other);
  cause.compute_s = steps.parts[here].compute_s;
  cause.other_s = steps.parts[there].compute_s;
  cause.launches = launches_of(work[here]);
  cause.other_launches = launches_of(work[there]);
  const double own_late = sum_of_steps(steps.late[here]);
  const double longer = cause.compute_s - cause.other_s;
  const double idle = steps.parts[here].idle_s - steps.parts[there].idle_s;
  const double copies = steps.parts[here].copies_s - steps.parts[there].copies_s;
  if (copies >= kExplains * own_late && copies > std::max(longer, idle)) {
    cause.reason = LateReason::copies;
    return cause;
  }
  if (longer < kExplains * own_late || longer < idle) {
    const double more = cause.launches - cause.other_launches;
    const bool explains = more * kMostPerLaunch >= kExplains * own_late;
    if (explains && more > (kMoreLaunches - 1) * cause.other_launches) cause.reason = LateReason::more_launches;
    return cause;
  }
  const SameLaunches same = same_launches(work[here], work[there]);
  if (same.there_s > 0) cause.slower = same.here_s / same.there_s;
  double all = 0;
  for (const auto& [group, of] : work[here]) all += of.seconds;
  const bool slow = same.here_s >= kMostOfWork * all && same.slower_s >= kMostOfWork * same.here_s &&
                    same.here_s - same.there_s >= kExplains * longer;
  cause.reason = slow ? LateReason::slow_gpu : LateReason::unequal_work;
  return cause;
}

}  // namespace roofline
