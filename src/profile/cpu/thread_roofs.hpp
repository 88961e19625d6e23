// Roofs for a subset of a CPU's threads. Pure.
#pragma once

#include <cstdint>

#include "model/machine.hpp"

namespace roofline {

/// The machine with the roofs of that many threads: the roofs of one core times the number of threads, but at most
/// those of all threads. Without a single-core ceiling, pipes and private caches are scaled by the share of threads,
/// and shared resources are not. The roofs of all threads, and of one core if available, are the measured ones.
Machine roofs_of_threads(const Machine& machine, std::int64_t threads);

}  // namespace roofline
