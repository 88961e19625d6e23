// Display names of pipes, levels and bounds.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "model/bound.hpp"
#include "model/names.hpp"

namespace roofline {

/// "HBM", "L2", "shared memory".
std::string title_of(Level level);

/// "memory-bound"; "without a known roof" for unknown.
std::string_view title_of(BoundLabel label);
/// In the order in which sentences list them.
inline constexpr std::array kBoundLabels = {BoundLabel::memory,        BoundLabel::compute,  BoundLabel::latency,
                                            BoundLabel::communication, BoundLabel::balanced, BoundLabel::unknown};

/// Of a pipe or a compute ceiling, by its name: "FP32", "BF16 tensor".
std::string title_of_pipe(std::string_view name);

/// A device's name without its vendor, its memory and its clock: "H100" of "NVIDIA H100 80GB HBM3". On one line.
std::string short_device_name(std::string_view name);
/// Whether a GPU of that name is one of AMD's, where other tools count.
bool is_gpu_of_amd(std::string_view name);
bool is_gpu_of_intel(std::string_view name);
/// Both short, or whole where they would be the same.
std::pair<std::string, std::string> names_apart(std::string_view a, std::string_view b);

}  // namespace roofline
