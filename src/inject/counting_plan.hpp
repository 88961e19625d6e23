// Which launches are counted, with which group of counters. Knows neither CUPTI nor the driver nor a clock.
//
// Counters are read in groups, and a session of the profiler has one group for one context: to begin another takes
// about a quarter of a second, a launch within it about a millisecond. So groups take turns in phases: one of them
// until every kind that still comes has it, then the next. A phase is through when no kind that lacks its group is to
// be expected, by the distance at which each came so far: a host that runs far ahead of its GPU is soon through with
// its launches. Where that can't be known, or little is to be won, it is over when for some time nothing was counted.
//
// Those in which the program spends most come first, through all groups, since a short program would otherwise end with
// a part of the counts of everything: launches are counted in slices of time, and a kind waits for a slice that reaches
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "inject/spool.hpp"

namespace roofline::inject {

/// What a session counts.
struct Configuration {
  std::uint64_t context = 0;
  std::uint32_t group = 0;

  bool operator==(const Configuration&) const = default;
};

/// The groups of a chip, by their numbers in the whole process.
struct GroupRange {
  std::uint32_t first = 0, count = 0;
  std::uint64_t instrumented = 0;  ///< bits of those that count by code which CUPTI puts into the kernels
};

class CountingPlan {
 public:
  struct Launch {
    std::uint64_t context = 0;
    GroupRange groups = {};
    spool::Id kind = 0;  ///< of all layers: one of them is counted
    spool::Id layer = 0;
    std::uint64_t number = 0;    ///< of this launch among those of its layer, from 1 on
    bool instrumentable = true;  ///< CUPTI may put code into what is launched
    bool uncountable = false;
    std::uint64_t usual = 0;  ///< ns of a launch of its kind on the GPU; 0: unknown
    std::uint64_t time = 0;
  };

  /// `budget`: nanoseconds that counting may cost. `first_group`: of a chip's, the one to begin with, so that runs of a
  /// program that is short complete each other.
  explicit CountingPlan(std::uint64_t budget, std::uint32_t first_group = 0);

  /// How this launch is to be counted, if it is. Where that is not current(), a session has to begin first.
  std::optional<Configuration> choose(const Launch& launch);

  // The outcome of choose(). A session may begin in parts.
  void began(const Configuration& configuration, std::uint64_t cost);
  void counted(spool::Id kind, std::uint64_t duration, std::uint64_t cost, std::uint64_t time);
  /// The launch, or earlier work, did not end in time.
  void failed(spool::Id kind, const char* reason, std::uint64_t cost);
  /// Another thread's work overlapped it.
  void overlapped(spool::Id kind, std::uint64_t cost);
  /// Time spent on neither.
  void spent(std::uint64_t cost) { spent_ += cost; }
  /// The session is over; the next one begins when enough launches need it.
  void released() { current_.reset(); }
  /// No launches of this context can be counted.
  void lost(std::uint64_t context);

  const std::optional<Configuration>& current() const { return current_; }
  /// True if no launch has needed the session for so long that it should be closed.
  bool idle(std::uint64_t time) const;
  /// True if no launch has needed counters for as long, with a session or without; false before the first launch.
  bool rests(std::uint64_t time) const;
  /// Counting was held until that time.
  void resumed(std::uint64_t time) { first_ = time; }
  bool over() const { return spent_ >= budget_; }
  std::uint64_t cost() const { return spent_; }

  struct Missing {
    spool::Id kind = 0;
    std::string reason;
  };
  /// Kinds that lack counts, with the reason; each is reported once.
  std::vector<Missing> missing();
  struct Summary {
    std::size_t kinds = 0, complete = 0;
    std::size_t unfinished = 0;   ///< launched more than once, and neither complete nor given up
    std::size_t once = 0;         ///< launched once so far
    std::uint64_t cost_left = 0;  ///< ns that what is due lacks, without the changes between groups

    /// Also after a first step that took so long that counting rested before the second one.
    bool missing() const { return unfinished > 0 || (complete == 0 && once > 0); }
  };
  Summary summary() const;

 private:
  struct Kind {
    std::uint64_t launches = 0;
    std::uint64_t wanted = 0, have = 0;  ///< bits of groups
    std::uint64_t duration = 0;          ///< ns; 0: unknown
    std::uint64_t round = 0;
    std::uint32_t launches_in_round = 0;
    std::uint64_t first = 0, last = 0;  ///< of its launches, among all
    // All layers come close to each other, and then not until the next step: one of them suffices to measure a step.
    spool::Id layer = 0;
    std::uint64_t last_of_layer = 0;
    std::uint64_t gap = 0;  ///< between its last two; 0: unknown
    std::uint32_t failures = 0, overlaps = 0;
    bool waits = false;   ///< neither the slice nor the budget reaches it, by the last ranking
    std::string refused;  ///< why it will not be counted
    bool noted = false;

    bool complete() const { return wanted != 0 && (wanted & ~have) == 0; }
  };

  bool is_due(const Kind& kind);
  bool phase_is_through() const;
  double weight(const Kind& kind) const;
  std::string why_missing(const Kind& kind) const;
  void rank();

  std::uint64_t budget_;
  std::uint32_t first_group_;
  std::uint64_t spent_ = 0;
  std::unordered_map<spool::Id, Kind> kinds_;
  std::optional<Configuration> current_;
  /// Rounds begin when something is counted. Who comes twice in one that does nothing for it has waited for all.
  std::uint64_t round_ = 1;
  std::uint64_t last_counted_ = 0, last_wanted_ = 0;
  std::uint64_t first_ = 0;  ///< time of the first launch, or when counting was resumed
  std::uint64_t launches_ = 0;
  std::uint64_t phase_ = 0;        ///< the launch with which it began
  std::uint32_t in_vain_ = 0;      ///< launches in this phase that it does nothing for
  std::uint64_t change_cost_ = 0;  ///< of the last one
  double launch_cost_ = 8e5;       ///< ns, running mean; at first that on an H100
  double launches_cost_ = 0;       ///< ns, of all
  double slice_;                   ///< ns of launches_cost_
  bool scarce_ = false;            ///< the last ranking let some wait
  std::uint64_t ranked_ = 0;       ///< choices since the kinds were ranked
};

}  // namespace roofline::inject
