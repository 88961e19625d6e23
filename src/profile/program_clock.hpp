// Time from the beginning of a recording, with and without what the profiler made the program wait. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "profile/intervals.hpp"

namespace roofline {

class ProgramClock {
 public:
  /// `counting`: when the program waited for counters; sorted and disjoint.
  explicit ProgramClock(std::uint64_t start, std::vector<Span> counting = {})
      : start_(start), counting_(std::move(counting)) {
    std::uint64_t sum = 0;
    for (const Span& span : counting_) before_.push_back(std::exchange(sum, sum + span.length()));
  }

  double wall_s(std::uint64_t time) const { return time > start_ ? seconds(time - start_) : 0; }

  /// Without waits for counters: a program that takes its steps at one pace does so by this clock.
  double own_s(std::uint64_t time) const {
    const auto after = std::upper_bound(counting_.begin(), counting_.end(), time,
                                        [](std::uint64_t at, const Span& span) { return at < span.start; });
    std::uint64_t waited = 0;
    if (after != counting_.begin()) {
      const auto last = static_cast<std::size_t>(after - counting_.begin()) - 1;
      waited = before_[last] + std::min(time, counting_[last].end) - counting_[last].start;
    }
    return time > start_ + waited ? seconds(time - start_ - waited) : 0;
  }

 private:
  std::uint64_t start_;
  std::vector<Span> counting_;
  std::vector<std::uint64_t> before_;  ///< waits before each of them
};

}  // namespace roofline
