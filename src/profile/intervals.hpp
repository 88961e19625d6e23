// Sets of times: which are covered, which are not. Pure.
#pragma once

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

/// What both cover.
std::vector<Span> common(const std::vector<Span>& a, const std::vector<Span>& b);

/// Nanoseconds in all.
std::uint64_t total_length(const std::vector<Span>& spans);

}  // namespace roofline
