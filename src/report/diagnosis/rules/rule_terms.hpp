// Conditions, sources and actions that several rules share, and the parts of the table of rules.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "report/diagnosis/rules.hpp"

namespace roofline::rule_parts {

constexpr Condition below(std::string_view quantity, double threshold) {
  return {quantity, Relation::below, threshold};
}
constexpr Condition above(std::string_view quantity, double threshold) {
  return {quantity, Relation::above, threshold};
}
constexpr Condition is(std::string_view flag, bool value = true) { return {flag, Relation::is, value ? 1.0 : 0.0}; }

inline constexpr std::optional<DeviceKind> kAny;
inline constexpr std::optional<DeviceKind> kGpu = DeviceKind::cuda;
inline constexpr std::optional<DeviceKind> kCpu = DeviceKind::cpu;

// Sources of thresholds.
inline constexpr std::string_view kNsight = "Nsight Compute, Kernel Profiling Guide";
inline constexpr std::string_view kBestPractices = "CUDA C++ Best Practices Guide";
inline constexpr std::string_view kField = "common rule of thumb";
inline constexpr std::string_view kMeasured = "time and roofs of the row";
inline constexpr std::string_view kSampled = "samples of its instructions, while it ran in the program";

/// Also without a known roof; only for rows whose instructions were sampled.
inline constexpr Condition kNotAtRoof = is("roof.reached", false);
inline constexpr Condition kUnderRoof = below("roof.fraction", kAtRoof);
inline constexpr Condition kNearRoof = above("roof.fraction", kAtRoof);
/// A kernel far above its roof is a finding of another kind: a cache served it, or the model counts too much.
inline constexpr Condition kNotFarAbove = below("roof.fraction", 1.1);
inline constexpr Condition kCounted = is("counted");
inline constexpr Condition kNotCounted = is("counted", false);
inline constexpr Condition kMemoryBound = is("memory.bound");
inline constexpr Condition kComputeBound = is("compute.bound");
/// No cache holds the data of a hot row.
inline constexpr Condition kFromMemory = is("cached", false);
inline constexpr Condition kAlone = is("product", false);
inline constexpr Condition kWithProduct = is("product");
/// Warps of a library's kernel wait by design: those that multiply for those that load.
inline constexpr Condition kOwnKernel = is("library", false);
/// The slowest thread's CPU time over the mean.
inline constexpr double kUneven = 1.25;
inline constexpr Condition kNoTensorWork = is("tensor.executed", false);

// Actions.
inline constexpr std::string_view kMeasureFirst =
    "Count (--counters) if this machine allows it, or let experiments run (without --no-experiments).";
inline constexpr std::string_view kLibraryStream =
    "Library kernel. Options: fuse it with adjacent ops[ ({fusing.tool})]; if it only copies, use a layout that needs "
    "no copy.";
inline constexpr std::string_view kLibraryGrid = "Grid size follows the problem size: batch more work per call.";

// Parts of the table; rules.cpp has their order.
std::span<const Rule> measurement_rules();
std::span<const Rule> suspect_roof_rules();
std::span<const Rule> missing_roof_rules();
std::span<const Rule> at_roof_rules();
std::span<const Rule> collective_rules();
std::span<const Rule> launch_rules();
std::span<const Rule> sector_rules();
std::span<const Rule> excess_work_rules();
std::span<const Rule> sample_rules();
std::span<const Rule> partial_loop_rules();
std::span<const Rule> loop_thread_rules();
std::span<const Rule> loop_rules();
std::span<const Rule> experiment_rules();
std::span<const Rule> cpu_rate_rules();
std::span<const Rule> cpu_memory_rules();
std::span<const Rule> overlap_rules();
std::span<const Rule> fallback_rules();

}  // namespace roofline::rule_parts
