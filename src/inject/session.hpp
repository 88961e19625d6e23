// The recording of a process, from the load of the library to the end of the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>

#include "inject/call_sites.hpp"
#include "inject/graphs.hpp"
#include "inject/launches.hpp"
#include "inject/spool_writer.hpp"

namespace roofline::inject {

enum class Phase : int {
  loaded,   ///< ranges are followed, nothing is recorded
  warming,  ///< CUPTI is on, the window has not begun
  recording,
  draining,  ///< the window has ended, kernels launched in it may still run
  quiet,     ///< of a sampled recording: nothing is recorded, a mark of the steps may be followed
  ended
};

class InstructionSampling;
class Sampling;

/// Which of how many runs of the program this is. All but the first only count.
struct RunOfSeveral {
  std::uint32_t number = 1, of = 1;
};
inline RunOfSeveral run_of_several() {
  RunOfSeveral run;
  char* end = nullptr;
  const char* const text = std::getenv(spool::kRunVariable);
  if (text == nullptr) return run;
  run.number = std::max(1U, static_cast<std::uint32_t>(std::strtoul(text, &end, 10)));
  if (*end == '/') run.of = static_cast<std::uint32_t>(std::strtoul(end + 1, nullptr, 10));
  return run;
}

/// One a process, never freed: threads may be in it when the process ends.
struct Session {
  SpoolWriter spool;
  Kinds kinds{spool};
  Graphs graphs;
  CallSites call_sites{spool};

  std::string folder;
  std::uint64_t started = 0;
  std::uint64_t warmup = 0;  ///< ns
  std::uint64_t window = 0;  ///< ns; 0: unlimited
  bool python = true;
  Sampling* sampling = nullptr;                 ///< nullptr: all of the window is recorded
  InstructionSampling* instructions = nullptr;  ///< nullptr: none are sampled

  std::atomic<Phase> phase = Phase::loaded;
  std::atomic<std::uint64_t> first_launch = 0;
  std::atomic<std::uint64_t> window_began = 0;
  std::atomic<std::uint64_t> window_ended = 0;
  /// Correlations of the window: what other activities belong to is not recorded.
  std::atomic<std::uint32_t> first_correlation = 0;
  std::atomic<std::uint32_t> end_correlation = 0;
  std::atomic<bool> end_correlation_known = false;
  /// Grows when callbacks are enabled or disabled: a thread may have missed the end of a call.
  std::atomic<std::uint32_t> epoch = 0;

  std::atomic<std::uint64_t> launches = 0, kernels = 0, dropped = 0, without_time = 0;
  std::atomic<std::uint64_t> earlier_launches = 0, earlier_kernels = 0;  ///< of these, before the window began

  std::mutex writer_mutex;  ///< held by the thread that writes, while it does
};

/// True if a correlation was given before another: they are given in order, and wrap around.
inline bool precedes(std::uint32_t correlation, std::uint32_t other) {
  return static_cast<std::int32_t>(correlation - other) < 0;
}

/// nullptr: this process is not recorded.
Session* session();
/// The session, as long as something may be recorded; else null.
inline Session* live_session() {
  Session* const current = session();
  return current != nullptr && current->phase.load(std::memory_order_relaxed) != Phase::ended ? current : nullptr;
}
/// Created by whichever loads the library first, the driver or NVTX.
Session* session_or_new();

/// The end of the window as known so far; it excludes the time spent on counting.
std::uint64_t window_end(const Session& session);

/// Records everything from this correlation on. Each recorded part of a sampled recording is a window.
void begin_window(Session& session, std::uint32_t correlation);
/// Later launches are not recorded.
void end_window(Session& session);

void write_tally(Session& session, bool last);

}  // namespace roofline::inject
