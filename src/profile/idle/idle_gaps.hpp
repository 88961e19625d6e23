// Idle gaps of GPUs within steps: what ended each gap, what the host did until then, and which part driver calls
// explain.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/idle/host_calls.hpp"
#include "profile/idle/thread_samples.hpp"
#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// Time explained by driver calls. `launch_rate` covers everything between a launch call and its start on the GPU.
struct KnownPart {
  SavingCause cause = SavingCause::launch_rate;
  double seconds = 0;
  spool::Id place = 0, call = 0;  ///< text ids; 0: none
  CauseDetail detail = CauseDetail::none;
  bool work_delayed = false;  ///< host work after a wait: without the wait it would have been done earlier
};

struct IdleGap {
  int device = 0, process = 0;
  double seconds = 0;              ///< within the steps, without profiler overhead; the sum of its parts
  const Activity* next = nullptr;  ///< activity that ended it
  std::uint32_t thread = 0;        ///< thread that launched it; 0: unknown
  /// From the previous launch, or the end of a wait for the GPU, to the next launch. The host's activity in that time
  /// delayed the GPU, even if it began before the GPU became idle.
  Span host;
  const HostCall* wait = nullptr;  ///< call in which the host waited when the GPU became idle
  std::vector<KnownPart> known;
  double rest_s = 0;  ///< part that only samples can explain
  NextWork work;
  bool loads_code = false;       ///< code was loaded within `host`
  double launch_interval_s = 0;  ///< length of `host` per launch in it, including the one that ended the gap
};

/// All gaps within the steps (sorted, disjoint), in order.
std::vector<IdleGap> idle_gaps(const Recording& recording, const std::vector<HostCalls>& calls,
                               const std::vector<Span>& steps);

}  // namespace roofline
