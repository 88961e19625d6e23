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
/// All labels, in display order.
inline constexpr std::array kBoundLabels = {BoundLabel::memory,        BoundLabel::compute,  BoundLabel::latency,
                                            BoundLabel::communication, BoundLabel::balanced, BoundLabel::unknown};

/// Display name of a pipe or compute ceiling: "FP32", "BF16 tensor".
std::string title_of_pipe(std::string_view name);

/// Device name without vendor, memory and clock: "H100" for "NVIDIA H100 80GB HBM3". One line.
std::string short_device_name(std::string_view name);
/// True for the name of an AMD GPU; other tools provide its counts.
bool is_gpu_of_amd(std::string_view name);
/// Instinct and what came before, whose FLOPs and bytes rocprof-compute counts; Radeon's RDNA is none of them.
bool is_compute_gpu_of_amd(std::string_view name);
bool is_gpu_of_intel(std::string_view name);
/// Both short, or whole where they would be the same.
std::pair<std::string, std::string> names_apart(std::string_view a, std::string_view b);

}  // namespace roofline
