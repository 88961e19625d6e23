// What a program's wall time went to, GPU by GPU, and why its GPUs were idle in between.
#pragma once

#include <string>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// One for each device that did something. The parts of each add up to the length of `steps` (sorted, disjoint);
/// without steps to the recording's.
std::vector<WallTime> wall_times(const Recording& recording, const std::vector<Span>& steps = {});

/// From the first activity of any GPU to the last one's end, without the time in which counters were read.
std::vector<Span> active_spans(const Recording& recording);

/// Why a GPU had nothing to do.
enum class GapCause : std::uint8_t {
  host,          ///< the next launch had not been made yet, and the host was on its own way to it
  away,          ///< likewise, for so long that it was about something else: start-up, data, a checkpoint
  synchronised,  ///< the host had waited for the GPU to end, and only then went on
  allocated,     ///< memory was allocated or freed
  loaded,        ///< a module was loaded
  queued,        ///< the launch had been made before: the GPU was about to start it, or waited for another stream
  counted,       ///< counters were being read
};

/// A time between two activities of a GPU, or a part of it.
struct Gap {
  Span span;
  GapCause cause = GapCause::host;
  int device = 0;
  int process = 0;      ///< of the activity that ended it
  spool::Id place = 0;  ///< of what ended it, or of the call, in that process
  spool::Id call = 0;   ///< text: the call in which the host waited; 0 if none
};

/// All gaps between the first and the last activity of each device, in order. A gap in which the host allocates or
/// loads is in parts; together they are the gap.
std::vector<Gap> gaps_of(const Recording& recording);

}  // namespace roofline
