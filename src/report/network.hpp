// Bandwidths of a collective, as defined by nccl-tests.
#pragma once

#include <optional>
#include <string>

#include "report/report.hpp"

namespace roofline {

/// Byte/s over a launch's whole time.
struct NetworkRates {
  double algorithm = 0;  ///< bytes/s of a rank's larger buffer
  double bus = 0;        ///< bytes/s that cross a rank's link
};

/// std::nullopt for rows without a collective or without a time.
std::optional<NetworkRates> network_rates(const Point& point);

/// Seconds that so many bytes of bus bandwidth took when the machine was calibrated, with as many ranks: between the
/// points of its sweep. std::nullopt without a sweep of just so many.
std::optional<double> calibrated_time(const Machine& machine, const Collective& collective, double bytes);

/// "bus 372 GB/s, algorithm 372 GB/s"; empty if there are none.
std::string network_text(const Point& point);

}  // namespace roofline
