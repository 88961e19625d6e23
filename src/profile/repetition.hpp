// Finds repetition in a sequence of launches. Pure: uses kinds and times only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace roofline {

/// A launch, copy or memset, in host order. Kinds are numbered from 0.
struct SequenceElement {
  std::uint32_t kind = 0;    ///< kind without sizes, in which steps may differ
  std::uint32_t exact = 0;   ///< kind including sizes; numbered separately
  bool update = false;       ///< part of an optimizer's parameter update
  std::uint64_t time = 0;    ///< host time, ns
  std::uint64_t pause = 0;   ///< ns from the end of the previous call to its start
  std::uint64_t on_gpu = 0;  ///< ns on the GPU
  bool copy = false;         ///< a copy or memset
  bool aside = false;        ///< on a stream with little of the work, as for prefetching: it may run far ahead
};

/// A sequence in segments: segment i begins at `begins[i]` and ends before `begins[i + 1]`.
struct Segments {
  std::vector<std::size_t> begins;  ///< number of segments plus one
  std::vector<bool> steady;         ///< per segment: it contains the typical content, plus at most half as much, and
                                    ///< copies (a checkpoint)
  bool by_update = false;           ///< each segment has a parameter update
};

/// Allowed difference between a segment and the typical one.
struct RepetitionTolerance {
  double contained = 0.8;  ///< minimum fraction of the typical content
  double longest = 1.5;    ///< maximum length, relative to the typical number of elements
};

/// Determines which segments are steady. Elements after the last beginning are no segment.
Segments segments_at(const std::vector<SequenceElement>& elements, std::vector<std::size_t> begins,
                     const RepetitionTolerance& tolerance = {});

/// The repetition that covers most of the sequence: with optimizer updates, one update per segment; otherwise the
/// shortest repetition, or a longer one that encloses it and adds something of its own (layers in a forward pass,
/// micro-batches before an update, rows of launches of other kernels). std::nullopt if less than a third of the
/// sequence repeats. O(n log n).
std::optional<Segments> find_repetition(const std::vector<SequenceElement>& elements);

}  // namespace roofline
