// Speed of the machine between two rows, measured with the calibration's own probes for a few milliseconds. Other
// tenants of the host slow every kernel of a guest without appearing in its counters; they slow these probes as
// well.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analyze/roof_probe.hpp"
#include "device/device.hpp"
#include "model/contention.hpp"
#include "model/machine.hpp"

namespace roofline {

/// The lower of both rates. A machine may change its speed in the middle of a row, and a mean would match neither
/// part.
ReferenceRates between(const ReferenceRates& before, const ReferenceRates& after);

class ReferenceProbe {
 public:
  /// Creates the probes of main memory's copy roof and of the fp32 roof as in the calibration. There are no rates
  /// on a GPU, if `machine` is another device or lacks one of the roofs, or if too little memory is free for the
  /// copy.
  ReferenceProbe(const Machine& machine, Device& device);
  ~ReferenceProbe();

  /// Measured now, or the previous value if measuring would take more than 3 % of the time since then.
  std::optional<ReferenceRates> latest();

  /// The probe of that ceiling in that variant, if it is one of the two; otherwise null.
  RoofProbe* probe_of(const Ceiling& roof);

 private:
  std::vector<std::unique_ptr<RoofProbe>> probes_;  ///< copy and arithmetic, or none
  std::optional<ReferenceRates> last_;
  double due_s_ = 0;
};

}  // namespace roofline
