// Ordered series of points, drawn as trajectories.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// ladder: implementations of one op at one shape and type, from the simplest to the best (in the run's order). sweep:
/// one implementation at sizes that grow together.
enum class SeriesKind : std::uint8_t { ladder, sweep };

struct Series {
  SeriesKind kind = SeriesKind::ladder;
  std::string name;                 ///< common part of the names: "gemm fp16 4096x4096x4096", "softmax fp32 online"
  std::vector<std::size_t> points;  ///< indices into Report::points, at least two
};

/// A sweep has at least three timed sizes whose changing extents all grow together; other variations of shape (such as
/// the products of a network's layers) are not sweeps. A ladder has at least two timed implementations and no points of
/// a sweep.
std::vector<Series> series_of(const Report& report);

}  // namespace roofline
