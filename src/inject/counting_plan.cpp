#include "inject/counting_plan.hpp"

#include <algorithm>
#include <bit>

#include "inject/clock.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint32_t kRoundsPatience = 2;  // launches of a kind in a round that does nothing for it
constexpr std::uint32_t kOften = 4;           // launches that nothing was counted of, before others are considered
constexpr std::uint32_t kBurst = 16;          // the same where there is one kind alone
constexpr double kLeastShare = 0.01;          // of all kinds' time, that a change is worth without having waited
constexpr std::uint32_t kMostFailures = 3;    // of a kind
constexpr std::uint32_t kMostOverlaps = 8;
constexpr std::uint64_t kIdle = kSecond;
constexpr std::uint64_t kChoicesOfARanking = 64;
constexpr double kUsualDuration = 10e3;  // of a kernel that was never timed, ns
constexpr double kFirstSlice = 1e9;      // ns of counted launches: what changing between all groups costs
constexpr double kMostCost = 4;          // of a launch, over the mean of those before
constexpr double kGrowth = 4;            // of slices: each may change between all groups once more

std::uint64_t bits(const GroupRange& groups) { return ((std::uint64_t{1} << groups.count) - 1) << groups.first; }

/// The first of `groups` in the cycle that goes on behind `after`.
std::uint32_t next_group(std::uint64_t groups, std::uint32_t after) {
  std::uint32_t group = after % 64;
  do {
    group = (group + 1) % 64;
  } while ((groups >> group & 1) == 0);
  return group;
}

}  // namespace

CountingPlan::CountingPlan(std::uint64_t budget, std::uint32_t first_group)
    : budget_(budget), first_group_(first_group), slice_(kFirstSlice) {}

std::optional<Configuration> CountingPlan::choose(const Launch& launch) {
  Kind& kind = kinds_[launch.kind];
  ++launches_;
  if (first_ == 0) first_ = launch.time;
  if (kind.first == 0) kind.layer = launch.layer;
  const bool of_layer = launch.layer == kind.layer;
  if (of_layer) {
    kind.gap = kind.last_of_layer != 0 ? launches_ - kind.last_of_layer : 0;
    kind.last_of_layer = launches_;
  }
  kind.last = launches_;
  if (kind.first == 0) {
    kind.first = launches_;
    kind.waits = scarce_;
  }
  kind.launches = std::max(kind.launches + 1, launch.number);
  kind.wanted |= bits(launch.groups);
  if (launch.usual != 0) kind.duration = launch.usual;
  if (!launch.instrumentable) kind.wanted &= ~launch.groups.instrumented;
  if (launch.uncountable && kind.refused.empty()) kind.refused = "it can't run alone";
  // First launches include what is loaded and touched for the first time.
  if (!kind.refused.empty() || kind.complete() || launch.number < 2 || over()) return std::nullopt;

  std::uint64_t missing = kind.wanted & ~kind.have & bits(launch.groups);
  // An instrumented launch is waited for by CUPTI, without a limit: it must have been seen to end by itself.
  if (kind.have == 0 && (missing & ~launch.groups.instrumented) != 0) missing &= ~launch.groups.instrumented;
  if (missing == 0 || !is_due(kind)) return std::nullopt;
  last_wanted_ = launch.time;

  if (current_ && current_->context == launch.context && (missing >> current_->group & 1) != 0) {
    return current_;
  }
  if (kind.round != round_) {
    kind.round = round_;
    kind.launches_in_round = 0;
  }
  if (of_layer) ++kind.launches_in_round;
  ++in_vain_;
  // Other kinds may come that lack the present group, and would cost a change later.
  const bool late = kind.launches_in_round >= kRoundsPatience && launch.time >= last_counted_ + change_cost_ / 4;
  if ((current_ || last_counted_ != 0) && !late && !phase_is_through()) return std::nullopt;
  const std::uint32_t start = launch.groups.first + first_group_ % launch.groups.count;
  return Configuration{launch.context, next_group(missing, current_ ? current_->group : start + 63)};
}

/// True if no kind that lacks the present group is to be expected soon, and others that wait are worth the next phase:
/// those that came for most of this one, and so will go on to.
bool CountingPlan::phase_is_through() const {
  if (!current_ || in_vain_ % kOften != 0) return false;
  const std::uint64_t bit = std::uint64_t{1} << current_->group;
  std::size_t kinds = 0;
  double waiting = 0, all = 0;
  for (const auto& [id, kind] : kinds_) {
    all += weight(kind);
    if (kind.launches < 2 || kind.complete() || !kind.refused.empty() || kind.waits) continue;
    ++kinds;
    if ((kind.wanted & ~kind.have & bit) == 0) {
      if (kind.last - kind.first >= (launches_ - phase_) / 2) waiting += weight(kind);
    } else if (launches_ - kind.last <= 2 * (kind.gap != 0 ? kind.gap : kind.last)) {
      return false;
    }
  }
  return waiting >= kLeastShare * all && in_vain_ >= (kinds > 1 ? kOften : kBurst);
}

void CountingPlan::began(const Configuration& configuration, std::uint64_t cost) {
  change_cost_ = (current_ == configuration ? change_cost_ : 0) + cost;
  current_ = configuration;
  phase_ = launches_;
  in_vain_ = 0;
  spent_ += cost;
}

void CountingPlan::counted(spool::Id id, std::uint64_t duration, std::uint64_t cost, std::uint64_t time) {
  Kind& kind = kinds_[id];
  kind.have |= std::uint64_t{1} << current_->group;
  if (kind.duration == 0) kind.duration = duration;
  kind.failures = 0;
  spent_ += cost;
  launches_cost_ += static_cast<double>(cost);
  // One in which the profiler makes room for others takes a hundred times as long.
  launch_cost_ += (std::min(static_cast<double>(cost), kMostCost * launch_cost_) - launch_cost_) / 16;
  last_counted_ = time;
  ++round_;
}

void CountingPlan::failed(spool::Id id, const char* reason, std::uint64_t cost) {
  Kind& kind = kinds_[id];
  if (++kind.failures >= kMostFailures) kind.refused = reason;
  spent_ += cost;
}

void CountingPlan::overlapped(spool::Id id, std::uint64_t cost) {
  Kind& kind = kinds_[id];
  if (++kind.overlaps >= kMostOverlaps) kind.refused = "other threads' work always overlapped it";
  spent_ += cost;
}

void CountingPlan::lost(std::uint64_t context) {
  if (current_ && current_->context == context) current_.reset();
}

bool CountingPlan::idle(std::uint64_t time) const {
  return current_ && time >= std::max(last_counted_, last_wanted_) + kIdle;
}

bool CountingPlan::rests(std::uint64_t time) const {
  return first_ != 0 && time >= std::max({first_, last_counted_, last_wanted_}) + kIdle;
}

double CountingPlan::weight(const Kind& kind) const {
  const double duration = kind.duration != 0 ? static_cast<double>(kind.duration) : kUsualDuration;
  return static_cast<double>(kind.launches) * duration;
}

bool CountingPlan::is_due(const Kind& kind) {
  if (ranked_++ % kChoicesOfARanking == 0) rank();
  return !kind.waits;
}

/// Where time is left for some kinds only, in this slice or at all, those get it that the program spends most in; of
/// equal ones, those that came first.
void CountingPlan::rank() {
  struct Need {
    Kind* kind;
    double weight, cost;
  };
  std::vector<Need> needs;
  double all = 0;
  std::uint64_t phases = 0;
  for (auto& [id, kind] : kinds_) {
    if (!kind.refused.empty() || kind.complete() || kind.launches < 2) continue;
    const std::uint64_t missing = kind.wanted & ~kind.have;
    needs.push_back({&kind, weight(kind), std::popcount(missing) * launch_cost_});
    all += needs.back().cost;
    phases |= missing;
  }
  if (current_) phases &= ~(std::uint64_t{1} << current_->group);
  const double changes = static_cast<double>(change_cost_) * std::popcount(phases);
  while (launches_cost_ >= slice_) slice_ *= kGrowth;
  double left = std::min(static_cast<double>(budget_) - static_cast<double>(spent_) - changes, slice_ - launches_cost_);
  scarce_ = all > left;
  if (scarce_) {
    std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.kind->first < b.kind->first;
    });
  }
  bool reached = true;
  for (const Need& need : needs) {
    reached = !scarce_ || &need == &needs.front() || (reached && need.cost <= left);
    if (reached) left -= need.cost;
    need.kind->waits = !reached;
  }
}

std::string CountingPlan::why_missing(const Kind& kind) const {
  if (!kind.refused.empty()) return kind.refused;
  if (kind.launches < 2) return "launched only once";
  if (over()) return "the time limit for counting was reached";
  return "not launched often enough";
}

std::vector<CountingPlan::Missing> CountingPlan::missing() {
  std::vector<Missing> result;
  for (auto& [id, kind] : kinds_) {
    if (kind.noted || kind.complete()) continue;
    kind.noted = true;
    result.push_back({id, why_missing(kind)});
  }
  std::sort(result.begin(), result.end(), [](const Missing& a, const Missing& b) { return a.kind < b.kind; });
  return result;
}

CountingPlan::Summary CountingPlan::summary() const {
  Summary summary;
  int launches = 0;
  for (const auto& [id, kind] : kinds_) {
    ++summary.kinds;
    if (kind.complete()) {
      ++summary.complete;
    } else if (kind.refused.empty() && kind.launches >= 2) {
      ++summary.unfinished;
      if (!kind.waits) launches += std::popcount(kind.wanted & ~kind.have);
    } else if (kind.refused.empty()) {
      ++summary.once;
    }
  }
  summary.cost_left = static_cast<std::uint64_t>(launches * launch_cost_);
  return summary;
}

}  // namespace roofline::inject
