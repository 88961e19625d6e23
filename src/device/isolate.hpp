// Jobs in a child process: one that crashes, hangs at Ctrl-C or poisons its device costs only itself.
// The parent never touches a device, so that it can always fork a fresh child for the jobs that are left.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace roofline {

/// What the child does after a job.
enum class AfterJob : std::uint8_t {
  next,           ///< go on in the same process, with what it holds open
  fresh_process,  ///< the device is lost: leave the rest to a new child
  nothing_left,   ///< the jobs that follow need not be run
};

/// Sends a message to the parent. Messages arrive in order; a vanished parent ends the child.
using Send = std::function<void(std::string_view message)>;

struct Jobs {
  std::int64_t count = 0;
  /// In the child. Expected to send its outcome; must not throw.
  std::function<AfterJob(std::int64_t job, const Send& send)> run;
  /// In the parent, for every message of a job.
  std::function<void(std::int64_t job, std::string_view message)> on_message;
  /// In the parent: the child died within this job ("the process was ended by signal 11 (Segmentation fault)").
  std::function<void(std::int64_t job, const std::string& reason)> on_lost;
  /// In the parent: seconds after which a job's process is killed, for on_lost to hear of; std::nullopt: never.
  std::function<std::optional<double>(std::int64_t job)> limit_s = [](std::int64_t) { return std::nullopt; };
  /// In the parent, before a process is started for the jobs that are left: whether they are not to be run.
  std::function<bool()> enough = [] { return false; };
  /// In the parent, some ten times a second.
  std::function<void()> on_tick = [] {};
};

enum class JobsEnd : std::uint8_t { finished, interrupted };

/// Runs all jobs in order, in as few child processes as possible. At an interrupt the child has a moment to end its
/// sample and send its results; then, or at a second interrupt, it is killed.
JobsEnd run_isolated(const Jobs& jobs);

}  // namespace roofline
