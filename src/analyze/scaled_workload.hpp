// Workloads of another size that do the same work per element.
#pragma once

#include <optional>

#include "config/suite.hpp"

namespace roofline {

/// Bytes of all tensors of the workload.
double bytes_of(const Op& op, const Workload& workload);

/// The unit in which different sizes are compared: operations of products, otherwise compulsory bytes.
double units_of(const Op& op, const Workload& workload, bool products);

/// The workload with its working set reduced to `bytes`, hot, with the same work per element: the first extent whose
/// reduction suffices, else (and for `products`) extents are halved, each time the one that keeps the most operations
/// per byte. std::nullopt if no valid shape is that small.
std::optional<Workload> shrunk(const SuiteEntry& entry, double bytes, bool products);

/// The workload with its longest extents halved until its tensors take at most so many bytes: no extent becomes so
/// short that borders are most of the work. std::nullopt if no valid shape is that small.
std::optional<Workload> shrunk_evenly(const SuiteEntry& entry, double bytes);

/// The workload with its leading extent doubled; std::nullopt if that is not valid.
std::optional<Workload> doubled(const SuiteEntry& entry);

}  // namespace roofline
