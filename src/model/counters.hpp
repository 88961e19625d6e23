// What the hardware counted while a launch ran, and how its kernels were laid out. Measured beside the work model,
// never instead of it. Plain data, and the quantities that follow from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/names.hpp"

namespace roofline {

/// What keeps more blocks of a kernel from being resident on an SM.
enum class OccupancyLimit : std::uint8_t { threads, blocks, registers, shared_memory };
std::string_view to_string(OccupancyLimit limit);
std::optional<OccupancyLimit> parse_occupancy_limit(std::string_view text);

/// One kernel of a launch, as it was put on the device.
struct KernelLaunch {
  std::string kernel;              ///< its name as in the source
  std::int64_t blocks = 0;         ///< of the grid
  std::int64_t threads = 0;        ///< of a block
  std::int64_t registers = 0;      ///< of a thread
  double shared_bytes = 0;         ///< of a block, static and dynamic
  double local_bytes = 0;          ///< of a thread: spilled registers, and arrays that are indexed at run time
  std::int64_t blocks_per_sm = 0;  ///< that are resident at once; 0 where it could not be found out
  double occupancy = 0;            ///< resident warps over the most that an SM holds
  OccupancyLimit limit = OccupancyLimit::threads;
  double waves = 0;  ///< blocks over those that are resident on all SMs at once
};

/// Counts of one launch. `values` is keyed by the ids of docs/counters.md ("dram.read_bytes"); what was asked for and
/// is not there has a reason in `missing`.
struct Counters {
  std::map<std::string, double, std::less<>> values;
  std::map<std::string, std::string, std::less<>> missing;
  std::string source;       ///< "CUPTI 13.0 on GH100", "perf_event_open"
  std::int64_t passes = 0;  ///< times that the launch was run for it
  std::vector<KernelLaunch> kernels;

  std::optional<double> find(std::string_view id) const;
  /// The sum of what is there of these; nothing when none is.
  std::optional<double> sum(std::initializer_list<std::string_view> ids) const;
  /// One over another; nothing unless both are there and the second is not 0.
  std::optional<double> ratio(std::string_view id, std::string_view over) const;
};

/// Operations by pipe, as they were executed: additions and products count 1, fused multiply-adds 2, packed halves
/// twice that. Pipes that were counted and did nothing are 0; those that were not counted are absent.
std::map<Pipe, double> counted_flops(const Counters& counters);

/// Bytes that crossed a level: DRAM both ways, what the SMs asked of L2, what L1 and shared memory delivered. Nothing
/// where the level was not counted.
std::optional<double> counted_bytes(const Counters& counters, Level level);

/// Which of the tensor operations went through wgmma, 0 to 1; nothing when there were none or neither was counted.
std::optional<double> wgmma_share(const Counters& counters);

}  // namespace roofline
