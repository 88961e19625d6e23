// How fast the machine itself is between two rows: a few milliseconds of the calibration's own probes. A neighbour on
// the same host slows every kernel of a guest and shows in none of its counters; these it slows as well.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "model/contention.hpp"
#include "model/machine.hpp"

namespace roofline {

/// What a row had for certain: the slower of both. A machine that changes its pace does so in the middle of rows, too,
/// and the mean of two paces is neither.
ReferenceRates between(const ReferenceRates& before, const ReferenceRates& after);

class ReferenceProbe {
 public:
  /// Makes the probes of main memory's copy roof and of the fp32 roof as the calibration did. There is no pace on a
  /// GPU, nor where `machine` is another device, has not both roofs, or too little memory is free for the copy.
  ReferenceProbe(const Machine& machine, Device& device);
  ~ReferenceProbe();

  /// Measured now, or the last time if that was so short ago that measuring would take more than 3 % of the time.
  std::optional<ReferenceRates> latest();

 private:
  class Gauge;

  std::vector<std::unique_ptr<Gauge>> gauges_;  ///< copy and arithmetic, or none
  std::optional<ReferenceRates> last_;
  double due_s_ = 0;
};

}  // namespace roofline
