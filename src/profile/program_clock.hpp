// Time since the start of a recording, with and without the waits caused by the profiler. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "profile/intervals.hpp"

namespace roofline {

class ProgramClock {
 public:
  /// `counting`: times in which the program waited for counters; sorted and disjoint.
  explicit ProgramClock(std::uint64_t start, std::vector<Span> counting = {})
      : start_(start), counting_(std::move(counting)) {
    std::uint64_t sum = 0;
    for (const Span& span : counting_) before_.push_back(std::exchange(sum, sum + span.length()));
  }

  double wall_s(std::uint64_t time) const { return time > start_ ? seconds(time - start_) : 0; }

  /// Time without waits for counters: steps that are equally long have equal lengths by this clock.
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
  std::vector<std::uint64_t> before_;  ///< total waits before each of them
};

}  // namespace roofline
