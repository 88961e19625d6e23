// Throughput of one SM per cycle by compute capability, as published by NVIDIA; no device attribute reports it.
// Pure arithmetic; the clock is measured elsewhere.
#pragma once

#include <optional>

#include "model/names.hpp"

namespace roofline {

/// Dense FLOP (or operations) of one SM in one cycle on that pipe, a fused multiply-add counted as two. std::nullopt
/// for a capability or pipe that the table doesn't know: better no limit than a wrong one. Source: CUDA C++ Programming
/// Guide, "Arithmetic Instructions" (throughput per cycle and multiprocessor), and the architecture whitepapers for the
/// tensor cores (fp32 accumulation).
std::optional<double> flops_per_cycle(int major, int minor, Pipe pipe);

/// L1 and shared memory of one SM together, in bytes, by compute capability; std::nullopt if unknown.
std::optional<double> l1_bytes(int major, int minor);

}  // namespace roofline
