// The texts in which XLA's profiler describes kernels and copies: "regs:16 grid:4,1,1 block:256,1,1", "size:1024".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "inject/spool.hpp"

namespace roofline {

/// The number behind `key`; 0 without it.
std::uint64_t xla_detail(std::string_view details, std::string_view key);
/// The same, at most 2^32 - 1.
std::uint32_t xla_small_detail(std::string_view details, std::string_view key);
/// Three numbers with commas; zeros without `key`.
std::array<std::uint32_t, 3> xla_extents(std::string_view details, std::string_view key);
/// The digits behind a prefix, at most 1023: "Stream #13(Compute)", "/device:GPU:0".
std::uint32_t xla_number_behind(std::string_view text, std::string_view prefix);
/// Between which memories a copy goes: by "kind_src:pinned", else by the event's name ("CopyDeviceToDevice",
/// "MemcpyH2D").
struct XlaCopyEnds {
  spool::Memory from = spool::Memory::unknown, to = spool::Memory::unknown;
};
XlaCopyEnds xla_copy_ends(std::string_view details, std::string_view name);

}  // namespace roofline
