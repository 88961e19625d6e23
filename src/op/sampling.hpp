// Selects the output elements to compare with the reference: all, or a new random sample.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "op/op.hpp"

namespace roofline {

/// Random elements of a sample, in addition to the edges; fewer if an element takes long.
inline constexpr std::int64_t kSampleElements = 4096;
/// Elements at either end of the output in a sample of that size.
inline constexpr std::int64_t kSampleEnds = 256;
/// fp64 operations per second and thread of references, which decides whether all elements can be compared within
/// about a second. Measured 0.6e9 (conversion-bound) to 2e9 (products) on 2.5 GHz Zen 3.
inline constexpr double kReferenceRate = 1e9;

struct SampleSize {
  std::int64_t inner = kSampleElements;  ///< random elements
  std::int64_t ends = kSampleEnds;       ///< elements at either end
};
/// As many elements as take some seconds on `threads` threads, 64 to kSampleElements. std::nullopt if all of `outputs`
/// elements take at most about a second, or are no more than a sample.
std::optional<SampleSize> sample_size(const Op& op, const Workload& workload, std::int64_t outputs, int threads);

/// The elements of a sample of that size, ascending and without repetition, with the op's edges. `outputs` elements
/// that follow `before` others, counted from the first of them.
std::vector<std::int64_t> draw_sample(const Op& op, const Workload& workload, std::int64_t outputs, SampleSize size,
                                      std::uint64_t seed, std::int64_t before = 0);

/// Corners of a rows × columns matrix, and points along its four edges: for Op::edges. `first` is the
/// index of the matrix's first element.
std::vector<std::int64_t> matrix_edges(std::int64_t rows, std::int64_t columns, std::int64_t first = 0);

}  // namespace roofline
