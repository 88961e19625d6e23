// What limits a row, as a group of roofs, and rows whose limit differs between two machines. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

struct Projection;

enum class LimitGroup : std::uint8_t { memory, cache, compute, latency };
inline constexpr std::size_t kLimitGroups = 4;

/// "memory", "cache", "compute", "latency".
std::string_view to_string(LimitGroup group);

/// The group of a roof's name, or of "latency".
LimitGroup limit_group(std::string_view roof);

/// Rows of one group here and of another there.
struct LimitChange {
  LimitGroup here = LimitGroup::latency, there = LimitGroup::latency;
  double here_s = 0;              ///< their time here, all launches
  std::vector<std::size_t> rows;  ///< indices into Projection::rows, the longest first
};

/// The changes, the longest first.
std::vector<LimitChange> limit_changes(const Projection& projection);

}  // namespace roofline
