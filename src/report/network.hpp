// What a row with a collective reached, as nccl-tests counts it.
#pragma once

#include <optional>
#include <string>

#include "report/report.hpp"

namespace roofline {

/// Byte/s over a launch's whole time.
struct NetworkRates {
  double algorithm = 0;  ///< of a rank's larger buffer
  double bus = 0;        ///< of the bytes that have to cross its link
};

/// Nothing for rows without a collective, or without a time.
std::optional<NetworkRates> network_rates(const Point& point);

/// Seconds that so many bytes of bus bandwidth took when the machine was calibrated, with as many ranks: between the
/// points of its sweep. Nothing without a sweep of just so many.
std::optional<double> calibrated_time(const Machine& machine, const Collective& collective, double bytes);

/// "bus 372 GB/s, algorithm 372 GB/s"; empty where there are none.
std::string network_text(const Point& point);

}  // namespace roofline
