// Steps by a program's NVTX ranges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/process_trace.hpp"
#include "profile/repetition.hpp"

namespace roofline {

/// Segments by the ranges of that name, or, if it is empty, by ranges that are called step or the like and contain most
/// launches. std::nullopt if there are fewer than `fewest` + 1.
std::optional<Segments> segments_by_range(const std::vector<SequenceElement>& elements, const ProcessTrace& trace,
                                          const std::string& wanted, std::size_t fewest);

}  // namespace roofline
