// Several processes, each with one rank: rank 0 runs the suite as ever, and the others follow it row by row.
#pragma once

#include <cstdint>
#include <memory>

#include "analyze/analyze.hpp"

namespace roofline {

/// Opens the device; with others, as the rank of this process, and waits until all of them are here. Throws Error.
std::unique_ptr<Device> open_ranks(const DeviceChoice& choice, const std::shared_ptr<Rendezvous>& together);

/// Of rank 0: has the others prepare this row of the suite, if it has ranks that they hold.
void announce_row(const SuiteEntry& entry, std::int64_t row, Device& device, const Rendezvous& together);

/// Of every other rank: takes part in what rank 0 announces until that has ended. Throws DeviceError when the device
/// can't be opened.
void follow(const Suite& suite, const DeviceChoice& choice, const std::shared_ptr<Rendezvous>& together);

}  // namespace roofline
