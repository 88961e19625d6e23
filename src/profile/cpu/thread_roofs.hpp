// The roofs of some of a CPU's threads. Pure.
#pragma once

#include <cstdint>

#include "model/machine.hpp"

namespace roofline {

/// The machine with the roofs that so many threads have together: those of one core times their number, and at most
/// those of all threads. Without a ceiling of one core, pipes and private caches have the threads' share, and what
/// threads share is as fast as for all of them. All threads have measured roofs of their own,
/// and so has one where its ceilings were measured.
Machine roofs_of_threads(const Machine& machine, std::int64_t threads);

}  // namespace roofline
