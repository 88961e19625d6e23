// Hardware counters of a launch, and the geometry of its kernels. They complement the work model and never replace it.
// Plain data, and derived quantities.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/names.hpp"
#include "model/work.hpp"

namespace roofline {

/// The resource that limits the resident blocks of a kernel on an SM.
enum class OccupancyLimit : std::uint8_t { threads, blocks, registers, shared_memory };
std::string_view to_string(OccupancyLimit limit);
std::optional<OccupancyLimit> parse_occupancy_limit(std::string_view text);

/// A single change that raises the occupancy of a kernel.
struct OccupancyChange {
  /// registers: at most `amount` per thread. shared_memory: at most `amount` bytes per block. threads: blocks of
  /// `amount`.
  OccupancyLimit of = OccupancyLimit::threads;
  double amount = 0;
  double occupancy = 0;  ///< then
};

/// One kernel of a launch.
struct KernelLaunch {
  std::string kernel;              ///< its name as in the source
  std::int64_t blocks = 0;         ///< blocks of the grid
  std::int64_t threads = 0;        ///< threads per block
  std::int64_t registers = 0;      ///< registers per thread
  double shared_bytes = 0;         ///< bytes per block, static and dynamic
  double local_bytes = 0;          /// per thread: register spills and dynamically indexed arrays
  std::int64_t blocks_per_sm = 0;  /// resident blocks; 0 if unknown
  double occupancy = 0;            /// resident warps over the maximum per SM
  OccupancyLimit limit = OccupancyLimit::threads;
  double waves = 0;                           ///< blocks over resident blocks on all SMs
  std::vector<OccupancyChange> changes = {};  ///< by resource, smallest change first
};

/// Counts of one launch. `values` is keyed by the ids of docs/counters.md ("dram.read_bytes"); requested counters
/// that are absent have a reason in `missing`.
struct Counters {
  std::map<std::string, double, std::less<>> values;
  std::map<std::string, std::string, std::less<>> missing;
  std::string source;       ///< "CUPTI 13.0 on GH100", "perf_event_open"
  std::int64_t passes = 0;  ///< times that the launch was run for it
  std::vector<KernelLaunch> kernels;

  std::optional<double> find(std::string_view id) const;
  /// The sum of those present; std::nullopt if none is.
  std::optional<double> sum(std::initializer_list<std::string_view> ids) const;
  /// Ratio of two counters; std::nullopt unless both are present and the second is not 0.
  std::optional<double> ratio(std::string_view id, std::string_view over) const;
};

/// Executed operations by pipe: additions and products count 1, fused multiply-adds 2, packed halves twice that.
/// Counted idle pipes are 0; pipes that were not counted are absent.
std::map<Pipe, double> counted_flops(const Counters& counters);

/// Bytes of main memory by direction, or unsplit where the tool counted their sum; std::nullopt if a part is missing.
std::optional<Traffic> counted_traffic(const Counters& counters);

/// Bytes that crossed a level: DRAM in both directions, requests of the SMs to L2, deliveries of L1 and shared memory.
/// std::nullopt if the level was not counted.
std::optional<double> counted_bytes(const Counters& counters, Level level);

/// Fraction of tensor operations in wgmma; std::nullopt if there were none or neither was counted.
std::optional<double> wgmma_share(const Counters& counters);

}  // namespace roofline
