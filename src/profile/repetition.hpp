// Where a sequence of launches repeats. Pure: knows kinds and times, and nothing of programs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace roofline {

/// A launch, copy or memset by the host, in the host's order. Kinds are numbered from 0 on.
struct SequenceElement {
  std::uint32_t kind = 0;    ///< what it is, without its sizes: steps may differ in these
  std::uint32_t exact = 0;   ///< with its sizes; a number of its own range
  bool update = false;       ///< belongs to an optimizer's update of parameters
  std::uint64_t time = 0;    ///< ns; the host's
  std::uint64_t pause = 0;   ///< ns between the end of the call before it and its beginning
  std::uint64_t on_gpu = 0;  ///< ns that it takes there
};

/// A sequence in segments: segment i begins at `begins[i]` and ends before `begins[i + 1]`.
struct Segments {
  std::vector<std::size_t> begins;  ///< one more than there are segments
  std::vector<bool> steady;         ///< by segment: its content is the typical one, with at most half of it besides
  bool by_update = false;           ///< each has an update of parameters
};

/// How far a segment may differ from the typical one.
struct RepetitionTolerance {
  double contained = 0.8;  ///< share of the typical content that it has
  double longest = 1.5;    ///< of the typical number of elements
};

/// Marks which of the segments that begin there are steady. What follows the last beginning is no segment.
Segments segments_at(const std::vector<SequenceElement>& elements, std::vector<std::size_t> begins,
                     const RepetitionTolerance& tolerance = {});

/// The repetition that most of the sequence is made of: where elements of an optimizer are in it, one update each; else
/// the shortest one, or the longer one that encloses it with something of its own (layers in a forward pass,
/// micro-batches before an update). Nothing where less than a third of the sequence repeats. O(n log n).
std::optional<Segments> find_repetition(const std::vector<SequenceElement>& elements);

}  // namespace roofline
