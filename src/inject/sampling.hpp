// A sampled recording: start-up and some of the steady steps are recorded and counted; after that, only a mark of the
// steps is followed, to time them. PhasePlan decides when; the thread that writes the spool changes the phase.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "inject/driver_calls.hpp"
#include "inject/launches.hpp"
#include "inject/pacer.hpp"
#include "inject/peers.hpp"
#include "inject/phase_plan.hpp"
#include "inject/repetitions.hpp"

namespace roofline::inject {

class InstructionSampling;
struct Session;

/// One per process, never freed.
class Sampling {
 public:
  explicit Sampling(Session& session);

  /// Before the first launch; nullptr: there will be no samples of instructions.
  void begin(InstructionSampling* instructions);

  // From the thread that writes.
  /// Enables or disables the callbacks of a paced mark. Returns the latest time of its next call.
  std::uint64_t tick(std::uint64_t time);
  /// After some of the calls of tick(), a few times per second: begins the next phase if it is time.
  void look(std::uint64_t time);
  /// Called when all launches of the ended part of the recording have run; recording is off from here on.
  void drained();
  /// The end of the recording or of the process. From any thread.
  void end();
  /// A recorded part is ending, but not the recording.
  bool pausing() const { return pausing_; }

  // From callbacks, in the program's threads.
  /// Called while nothing is recorded. True if the call is followed only for its mark.
  bool marks(CUpti_CallbackId id, const DriverCall& call, const CUpti_CallbackData& data);
  void capture_begins();
  void captures_end();

 private:
  /// The mark that is followed. Never freed, because callbacks may still use it.
  struct Marker {
    spool::Id id = 0;
    const Kind* kind = nullptr;  ///< of a launch
    std::vector<CUpti_CallbackId> calls;
    bool paced = false;
    std::uint64_t interval = 0;  ///< from mark to mark, ns

    bool follows(CUpti_CallbackId call) const;
    bool is(const DriverCall& call, const CUpti_CallbackData& data) const;
  };

  /// Writes the marks so far.
  void finish();
  void observe(std::string_view records);
  void follow_instructions(RunPhase phase);
  void take(const spool::Kind& kind);
  void begin_recording();
  void end_recording();
  const Marker* choose();
  bool lost(std::uint64_t time);
  void seen(const Marker& marker, std::uint64_t time);
  void write_marks(const Marker& marker, std::uint64_t start, std::uint64_t end, std::uint32_t marks);

  Session& session_;
  Peers peers_;
  PhasePlan plan_;  // this and what follows up to markers_: of the thread that writes
  bool held_ = false;
  bool pausing_ = false;
  bool looking_ = false;                   ///< callbacks for a paced mark are enabled
  const Marker* chosen_ = nullptr;         ///< for the next quiet phase; nullptr: steps can't be timed
  std::map<Mark, const Marker*> markers_;  ///< with a record each

  std::mutex observed_mutex_;  // a context that is destroyed flushes, too
  Repetitions repetitions_;
  std::vector<Mark> mark_of_kind_;  ///< by the kind's id
  struct Shape {
    spool::Id name;
    std::uint32_t grid[3], block[3];
    auto operator<=>(const Shape&) const = default;
  };
  std::map<Shape, spool::Id> shapes_;  ///< the first kind of each

  std::atomic<const Marker*> marker_ = nullptr;
  std::atomic<std::uint32_t> callbacks_ = 0;   ///< since the last mark
  std::atomic<std::uint64_t> last_mark_ = 0;   ///< its time, or when callbacks were last enabled
  std::atomic<std::uint64_t> look_again_ = 0;  ///< end of a pause in which marks are ignored; 0: no pause
  std::atomic<bool> captured_ = false;         ///< a graph was made while nothing was recorded

  std::mutex marks_mutex_;  // of what follows
  Pacer pacer_;
  std::uint64_t written_ = 0;             ///< records of marks
  std::uint64_t start_ = 0, marked_ = 0;  ///< of the marks to be written
  std::uint32_t pending_ = 0, pending_callbacks_ = 0;
};

}  // namespace roofline::inject
