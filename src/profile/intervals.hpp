// Sets of time spans. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roofline {

/// A length in nanoseconds.
inline double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

/// [start, end), nanoseconds.
struct Span {
  std::uint64_t start = 0, end = 0;
  std::uint64_t length() const { return end - start; }
  bool operator==(const Span&) const = default;
};

/// Union of the spans: sorted, disjoint, none empty.
std::vector<Span> covered(std::vector<Span> spans);

/// Parts of `within` not covered by the spans; both sorted and disjoint, as from covered().
std::vector<Span> uncovered(const std::vector<Span>& within, const std::vector<Span>& by);

/// Intersection of two spans; empty if they do not overlap.
Span overlap(const Span& a, const Span& b);

/// Nanoseconds of a span that the spans (sorted, disjoint) do not cover; 0 if it ends before it begins.
std::uint64_t uncovered_length(const Span& span, const std::vector<Span>& by);
/// The same, restricted to `within` (sorted, disjoint).
std::uint64_t uncovered_length(const Span& span, const std::vector<Span>& within, const std::vector<Span>& by);

/// Index of the span (sorted, disjoint) that contains a time; their number if none does.
std::size_t span_at(const std::vector<Span>& spans, std::uint64_t time);

/// Intersection of both sets.
std::vector<Span> common(const std::vector<Span>& a, const std::vector<Span>& b);

/// The spans (sorted, disjoint) that overlap `span`, clipped to it.
std::vector<Span> parts_within(const Span& span, const std::vector<Span>& spans);

/// Tests whether times, queried in ascending order, lie in the spans (sorted, disjoint). True for all if there are
/// none.
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

/// Total nanoseconds.
std::uint64_t total_length(const std::vector<Span>& spans);

}  // namespace roofline
