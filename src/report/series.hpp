// Points that belong together and in an order: drawn as a trajectory.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// ladder: implementations of one op at one shape and type, from the plainest to the best (the run's order).
/// sweep: one implementation over sizes that grow together.
enum class SeriesKind : std::uint8_t { ladder, sweep };

struct Series {
  SeriesKind kind = SeriesKind::ladder;
  std::string name;                 ///< "gemm fp16 4096x4096x4096", "softmax fp32 online": what its points share
  std::vector<std::size_t> points;  ///< indices into Report::points, two at least
};

/// A sweep needs three timed sizes at least whose changing extents all grow together; shapes that differ in another
/// way (the products of a network's layers) are no sweep. A ladder needs two timed implementations; points that are
/// in a sweep of three sizes or more are in no ladder.
std::vector<Series> series_of(const Report& report);

}  // namespace roofline
