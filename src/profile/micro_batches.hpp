// Steps of several micro-batches, each of which reduces its gradients.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/ranks.hpp"

namespace roofline {

/// How many micro-batches of a step reduce their gradients; 1 if a step has one, or reduces once. Each kernel of a
/// module's forward pass then comes that often in a step or a multiple of it, and gradients are reduced between them.
std::int64_t reduced_micro_batches(const Job& job, const Recording& recording, const std::vector<Span>& steps);

}  // namespace roofline
