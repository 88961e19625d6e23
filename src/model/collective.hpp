// Collectives in the units of nccl-tests: algorithm bandwidth and bus bandwidth. Pure arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace roofline {

/// All collectives with an op and a ceiling. In a send_recv each rank sends to the next and receives from the
/// previous one, cyclically.
inline constexpr std::array<std::string_view, 6> kCollectives = {"all_reduce", "all_gather", "reduce_scatter",
                                                                 "broadcast",  "all_to_all", "send_recv"};

/// Bus bandwidth over algorithm bandwidth: the part of a rank's larger buffer that crosses each rank's link, for any
/// algorithm, so that all sizes and numbers of ranks share one roof. 2(n-1)/n for all_reduce, (n-1)/n for all_gather,
/// reduce_scatter and all_to_all, 1 for broadcast and send_recv; std::nullopt for any other name.
std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks);

}  // namespace roofline
