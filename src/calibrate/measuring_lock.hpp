// One calibration of a device at a time, because two would measure each other.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "model/machine.hpp"

namespace roofline {

/// A lock on a file in the cache folder `measuring`, one per device of a host; everything measured on its CPUs
/// shares one. The system releases it with the last process of a calibration. Without a cache or locks, every
/// process gets it.
class MeasuringLock {
 public:
  explicit MeasuringLock(const DeviceInfo& device);
  ~MeasuringLock();
  MeasuringLock(MeasuringLock&& other) noexcept;
  MeasuringLock& operator=(MeasuringLock&&) = delete;

  /// Why the file can't be locked, and the remedy; empty if it can, and without a cache.
  const std::string& problem() const { return problem_; }
  const std::filesystem::path& path() const { return path_; }

  /// Acquires the device until this object is destroyed; false if another process has it.
  bool take();

  /// The process id of the current holder, if any; 0 if it wrote none. For a lock that was not acquired.
  std::optional<pid_t> holder() const;

 private:
  std::filesystem::path path_;
  std::string problem_;
  int file_ = -1;
};

}  // namespace roofline
