// A child process that answers questions beside what its parent does: whoever reads a device's sensors may hang or die
// with the device, and costs its own answers only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace roofline {

/// What a companion does, made in the child.
class Errand {
 public:
  virtual ~Errand() = default;
  /// Called some ten times a second while nothing is asked.
  virtual void idle() = 0;
  virtual std::string answer() = 0;
};

class Companion {
 public:
  /// Forks. `begin` runs in the child; what it throws is why the companion is gone.
  explicit Companion(const std::function<std::unique_ptr<Errand>()>& begin);
  ~Companion();
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  /// Asks, unless an answer is due already.
  void ask();
  /// The answer to what was asked, once.
  std::optional<std::string> answer();
  /// Since when an answer is due, on wall_seconds(); nothing where none is.
  std::optional<double> asked_s() const { return asked_s_; }
  /// Why no answer will come any more; empty while one may.
  const std::string& lost() const { return lost_; }

  /// Waits until each of them has answered, is lost, or the time is over.
  static void wait_for(std::span<Companion* const> companions, double seconds);

 private:
  void take_in();
  void end(const std::string& reason);

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string received_;
  std::optional<double> asked_s_;
  std::string lost_;
};

}  // namespace roofline
