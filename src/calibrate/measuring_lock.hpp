// One calibration of a device at a time: two at once would measure each other.
#pragma once

#include <optional>
#include <string>

#include "model/machine.hpp"

namespace roofline {

/// The system's lock on a file in the cache's folder `measuring`, one for each device of a host; all that is measured
/// on its CPUs has the same one. It ends with the last process of a calibration, however that ends. Where nothing can
/// be locked (no cache, a file system without locks) everybody has it.
class MeasuringLock {
 public:
  explicit MeasuringLock(const DeviceInfo& device);
  ~MeasuringLock();
  MeasuringLock(MeasuringLock&& other) noexcept;
  MeasuringLock& operator=(MeasuringLock&&) = delete;

  /// Whether the device is this one's now, and until it is gone.
  bool take();

  /// Who else has it at this moment ("4711", a process id), if anybody. Of one that was not taken.
  std::optional<std::string> holder() const;

 private:
  int file_ = -1;
};

}  // namespace roofline
