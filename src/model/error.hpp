// The base class of all errors that a user may see: what is wrong, and what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace roofline {

/// Exit codes of the program (docs/architecture.md).
enum class ExitCode : int {
  ok = 0,
  workload_failed = 1,
  usage = 2,
  regression = 3,
  device_unusable = 4,
  cancelled = 130,
};

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, std::string hint = {}) : std::runtime_error(what), hint_(std::move(hint)) {}

  /// What to do next; may be empty.
  const std::string& hint() const { return hint_; }
  virtual ExitCode exit_code() const { return ExitCode::workload_failed; }

 private:
  std::string hint_;
};

/// A mistake on the command line or in a file. The message names file, line and column if they are known.
class UsageError : public Error {
 public:
  using Error::Error;
  ExitCode exit_code() const override { return ExitCode::usage; }
};

/// The requested device cannot be used.
class DeviceError : public Error {
 public:
  using Error::Error;
  ExitCode exit_code() const override { return ExitCode::device_unusable; }
};

/// The operating system or the driver denies access; another user or setting would be allowed.
class PermissionError : public Error {
 public:
  using Error::Error;
};

/// The device's context is lost for this process (illegal access of a kernel); only a new process can continue.
class PoisonedDevice : public Error {
 public:
  using Error::Error;
};

}  // namespace roofline
