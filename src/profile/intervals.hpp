// Sets of times: which are covered, which are not. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roofline {

/// Of nanoseconds.
inline double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

/// From `start` on, before `end`; nanoseconds.
struct Span {
  std::uint64_t start = 0, end = 0;
  std::uint64_t length() const { return end - start; }
  bool operator==(const Span&) const = default;
};

/// What is covered by at least one of them: sorted, disjoint, none empty.
std::vector<Span> covered(std::vector<Span> spans);

/// What of `within` none of these covers; both sorted and disjoint, as covered() returns them.
std::vector<Span> uncovered(const std::vector<Span>& within, const std::vector<Span>& by);

/// What two spans have in common; without length where that is nothing.
Span overlap(const Span& a, const Span& b);

/// Of a span, the nanoseconds that none of these (sorted, disjoint) covers; 0 where it ends before it begins.
std::uint64_t uncovered_length(const Span& span, const std::vector<Span>& by);
/// The same of those of its parts that lie in `within` (sorted, disjoint).
std::uint64_t uncovered_length(const Span& span, const std::vector<Span>& within, const std::vector<Span>& by);

/// Index of the one (sorted, disjoint) that a time lies in; their number where it lies in none.
std::size_t span_at(const std::vector<Span>& spans, std::uint64_t time);

/// What both cover.
std::vector<Span> common(const std::vector<Span>& a, const std::vector<Span>& b);

/// Those of the spans (sorted, disjoint) that overlap `span`, clipped to it.
std::vector<Span> parts_within(const Span& span, const std::vector<Span>& spans);

/// Whether times lie in some spans (sorted, disjoint), asked in their order. All do where there are none.
class Within {
 public:
  explicit Within(const std::vector<Span>& spans) : spans_(spans) {}

  bool operator()(std::uint64_t time) {
    while (at_ < spans_.size() && spans_[at_].end <= time) ++at_;
    return spans_.empty() || (at_ < spans_.size() && spans_[at_].start <= time);
  }

 private:
  const std::vector<Span>& spans_;
  std::size_t at_ = 0;
};

/// Nanoseconds in all.
std::uint64_t total_length(const std::vector<Span>& spans);

}  // namespace roofline
