// Counters around launches: the functions that the trace calls in the callbacks of launches.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "inject/spool.hpp"

namespace roofline::inject {

/// A launch that is about to happen, or has just happened, in the thread that calls.
struct LaunchSite {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  spool::Id kind = 0;
  spool::Id alike = 0;          ///< the first equivalent kind, which may be this one: only one of them is counted
  std::uint32_t flags = 0;      ///< the kind's, spool::KindFlag
  std::uint64_t number = 0;     ///< of this launch among those of its kind, from 1 on
  std::uint64_t usual = 0;      ///< ns of a launch of its kind on the GPU; 0: unknown
  CUgraphExec graph = nullptr;  ///< nullptr: a kernel is launched
  std::uint32_t correlation = 0;
};

/// True if a launch may be counted; if not, counting_enters() need not be called.
bool counting_asks();

/// Before a launch, never during a capture. True: its counts are being taken, and counting_exits follows in the same
/// thread with an equal site.
bool counting_enters(const LaunchSite& site);
/// `launched`: the driver took the launch.
void counting_exits(const LaunchSite& site, bool launched);

/// Called before each call that gives the GPU work or code and is not itself counted. Waits while the GPU must be idle.
/// True: the same thread must call counting_work_ends.
bool counting_work_begins();
void counting_work_ends();

/// Brackets a capture, starting before cuStreamBeginCapture; no thread may wait for the GPU during it.
void counting_capture_begins();
void counting_capture_ends();

/// Before the driver destroys a context, from its callback.
void counting_context_destroyed(CUcontext context);

/// Stops counting until counting_resumes(). False: the session could not be closed because the GPU is not idle; call it
/// again. From any thread.
bool counting_holds();
void counting_resumes();

struct CountingState {
  bool rests = true;       ///< no launch has needed counters for a second, or nothing can be counted
  bool missing = false;    ///< some launch signature still lacks counts that it could get
  std::uint64_t left = 0;  ///< ns that these cost at least
  bool may = false;        ///< there is time left for counts of other launches
};
CountingState counting_state();

/// Recording ends: at the end of the window, or of the process. From any thread, and more than once.
void counting_finish();

/// Nanoseconds that counting has cost the program so far.
std::uint64_t counting_cost();

}  // namespace roofline::inject
