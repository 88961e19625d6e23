// Energy and temperature of the CPU packages, from RAPL (powercap), hwmon and thermal zones. Virtual machines have none
// of them, and RAPL requires root: readings are then empty.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "device/device.hpp"

namespace roofline {

/// A counter of microjoules that starts again at zero once it has passed its range (60 J to 260 kJ: minutes of load).
class WrappingEnergy {
 public:
  /// `range_uj` is the highest value that the counter shows.
  explicit WrappingEnergy(double range_uj) : range_uj_(range_uj) {}

  /// The next reading of the counter; returns the joules since the first one. Right as long as the counter did not
  /// pass its range twice between two calls.
  double advance(double counter_uj);

 private:
  double range_uj_;
  std::optional<double> last_uj_;
  double joules_ = 0;
};

class PowerSensors {
 public:
  /// Looks for sensors under `root`/sys; `root` is empty but in tests.
  explicit PowerSensors(const std::filesystem::path& root = "/");

  /// The sum over all packages and the temperature of the hottest one; unreadable values are absent.
  PowerReading read();

 private:
  struct Package {
    std::filesystem::path counter;
    WrappingEnergy energy;
  };
  std::vector<Package> packages_;
  std::vector<std::filesystem::path> thermometers_;
};

}  // namespace roofline
