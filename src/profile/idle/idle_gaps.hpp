// The idle times of GPUs within steps: what ended each, what the host did until then, and which parts of it the calls
// of the driver explain.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/idle/host_calls.hpp"
#include "profile/idle/thread_samples.hpp"
#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// What calls of the driver explain. `launch_rate` stands for everything on the way of a launch to the GPU.
struct KnownPart {
  SavingCause cause = SavingCause::launch_rate;
  double seconds = 0;
  spool::Id place = 0, call = 0;  ///< text; 0: none
  CauseDetail detail = CauseDetail::none;
  bool work_delayed = false;  ///< the host's work after a wait: without that, it would have been done in the meantime
};

struct IdleGap {
  int device = 0, process = 0;
  double seconds = 0;              ///< within the steps and without profiler overhead: what its parts add up to
  const Activity* next = nullptr;  ///< that ended it
  std::uint32_t thread = 0;        ///< that gave it to the GPU; 0: not known
  /// From the previous launch, or the end of a wait for the GPU, to the next launch: what the host did that long made
  /// the GPU wait, also where it began before the GPU ran dry.
  Span host;
  const HostCall* wait = nullptr;  ///< in which the host was when the GPU ran dry
  std::vector<KnownPart> known;
  double rest_s = 0;  ///< that only samples explain
  NextWork work;
  bool loads_code = false;       ///< code was loaded within `host`
  double launch_interval_s = 0;  ///< of `host`, for each launch in it and the one that ended the gap
};

/// All of them in the steps (sorted, disjoint), in order.
std::vector<IdleGap> idle_gaps(const Recording& recording, const std::vector<HostCalls>& calls,
                               const std::vector<Span>& steps);

}  // namespace roofline
