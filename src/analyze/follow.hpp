// Several processes, one rank each: rank 0 runs the suite, and the others follow it row by row.
#pragma once

#include <cstdint>
#include <memory>

#include "analyze/analyze.hpp"

namespace roofline {

/// Opens the device; with several processes, as the rank of this process, and waits for all others. Throws Error.
std::unique_ptr<Device> open_ranks(const DeviceChoice& choice, const std::shared_ptr<Rendezvous>& together);

/// Rank 0: makes the others prepare this row of the suite, if they hold some of its ranks.
void announce_row(const SuiteEntry& entry, std::int64_t row, Device& device, const Rendezvous& together);

/// Every other rank: takes part in the rows that rank 0 announces, until it has ended. Throws DeviceError if the
/// device cannot be opened.
void follow(const Suite& suite, const DeviceChoice& choice, const std::shared_ptr<Rendezvous>& together);

}  // namespace roofline
