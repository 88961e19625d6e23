// Recorded memory blocks of one process on one device: use over time, and blocks that stay. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/process_trace.hpp"
#include "report/memory_profile.hpp"

namespace roofline {

struct MemoryBlock {
  std::uint64_t allocated = 0;       ///< time, ns
  std::uint64_t freed = UINT64_MAX;  ///< time, ns; UINT64_MAX: never
  double bytes = 0;
  spool::Id place = 0;

  bool in_use(std::uint64_t time) const { return allocated <= time && time < freed; }
};

/// Sorted by allocation time. `is_wanted` selects pool and device.
std::vector<MemoryBlock> blocks_of(const ProcessTrace& trace,
                                   const std::function<bool(const spool::Allocation&)>& is_wanted);

/// Sums by line and module, largest first; repeated modules are merged ("blocks.*.mlp").
std::vector<MemoryHolder> holders_of(const ProcessTrace& trace, const std::vector<MemoryBlock>& blocks);

/// Blocks in use at that time.
std::vector<MemoryBlock> in_use(const std::vector<MemoryBlock>& blocks, std::uint64_t time);

/// Blocks allocated within the time and still in use at `until`.
std::vector<MemoryBlock> kept(const std::vector<MemoryBlock>& blocks, const Span& within, std::uint64_t until);

}  // namespace roofline
