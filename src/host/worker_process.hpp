// A child process that replies to requests while its parent continues. A process that reads a device's sensors may hang
// or die with the device; then only its own replies are lost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host/process.hpp"

namespace roofline {

/// Request handler of a worker process, created in the child.
class Handler {
 public:
  virtual ~Handler() = default;
  /// Called about ten times per second without a request.
  virtual void idle() = 0;
  virtual std::string reply() = 0;
};

class WorkerProcess {
 public:
  /// Forks. `make` runs in the child; what it throws is why the worker is lost.
  explicit WorkerProcess(const std::function<std::unique_ptr<Handler>()>& make);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Sends a request, unless a reply is due already.
  void request();
  /// The reply to the request, once.
  std::optional<std::string> reply();
  /// Time of the pending request by wall_seconds(); std::nullopt if there is none.
  std::optional<double> requested_s() const { return requested_s_; }
  /// Why no reply will come any more; empty while one may.
  const std::string& lost() const { return lost_; }

  /// Waits until each of them has replied or is lost, or the time is over.
  static void wait_for(std::span<WorkerProcess* const> workers, double seconds);

 private:
  void receive();
  void end(const std::string& reason);

  Process process_;
  Descriptor socket_;
  std::string received_;
  std::optional<double> requested_s_;
  std::string lost_;
};

}  // namespace roofline
