// The phases of a sampled recording: it records the start-up and some of the steady steps, counts, and otherwise leaves
// the program alone. Independent of CUPTI and of clocks.
//
// Where instructions are sampled, a short phase of that comes first, until something repeats, for programs that end
// soon; one of steady steps follows when the sample and all counts have been taken. Counting begins after the
// first, so that short programs have counts. It is interrupted for a few steps in which nothing is counted, as a short
// program with slow steps would have none of them, and if it takes long for a sample. The ranks of a job begin with
// these few steps, because one that counts delays the others. A program in which nothing repeats is recorded
// completely; one that launches kernel after kernel, each many times, is counted from the first to the last.
#pragma once

#include <cstdint>

namespace roofline::inject {

enum class RunPhase : std::uint8_t {
  instructions,  ///< recorded; instructions are sampled, nothing is counted
  closing,       ///< the same, until a launch has ended that
  start_up,      ///< recorded; counters are read as soon as launches repeat
  glimpse,       ///< a few steps are recorded without counting, then start_up goes on
  sample,        ///< steady steps are recorded, nothing is counted
  counting,      ///< recorded; what has no counts yet gets them
  quiet,         ///< nothing is recorded; steps are timed by a marker
  refresh        ///< some steps are recorded again, because the program may have changed
};

inline constexpr bool counts(RunPhase phase) { return phase == RunPhase::start_up || phase == RunPhase::counting; }

class PhasePlan {
 public:
  struct Progress {
    std::uint64_t time = 0;           ///< ns
    bool launched = false;            ///< the program has launched something
    std::uint64_t launches = 0;       ///< of the whole process so far
    std::uint64_t repetitions = 0;    ///< of the repeated part since this phase began; 0: nothing repeats
    std::uint64_t repeated = 0;       ///< how long all of them took, ns: a compiler that tunes kernels repeats briefly
    bool counting_rests = false;      ///< no launch has needed counters for some time
    bool counts_missing = false;      ///< some launch signature still lacks counts
    std::uint64_t counting_cost = 0;  ///< ns
    std::uint64_t counting_left = 0;  ///< ns, what the missing counts will cost at least
    bool marker_lost = false;         ///< in quiet: the mark of the steps no longer comes
    bool no_instructions = false;     ///< the GPU's instructions can't be sampled
    bool instructions_on = false;     ///< they are being sampled, or will be from the next launch on
    bool instructions_taken = false;  ///< they are being sampled
    bool in_job = false;              ///< other processes are to record the same steps
    bool peers_missing = false;       ///< in sample: not all of them are in it yet
    bool series = false;              ///< kernel after kernel, each many times, none of them again
    bool in_row = false;              ///< many launches of one kernel
    bool newcomer = false;            ///< a kernel that is new in this phase comes many times in a row
    bool may_count = false;           ///< there is time left for counting
  };

  /// Of several runs of a program, the later ones only count.
  enum class Run : std::uint8_t { only, first, later };
  /// Before anything else. `instructions` are to be sampled, too: in the first of several runs those of all kernels of
  /// a series. In a job each rank's counting delays all others: the few steps without counting come first.
  void begin(bool instructions, bool in_job, Run run = Run::only);
  /// The phase from now on. Call it a few times per second.
  RunPhase next(const Progress& progress);
  RunPhase phase() const { return phase_; }
  /// True if steady steps have been recorded without counting.
  bool sampled() const { return sampled_; }

 private:
  RunPhase after_instructions(const Progress& progress) const;
  RunPhase after_start_up(const Progress& progress) const;
  RunPhase after_glimpse(const Progress& progress) const;
  RunPhase after_sample(const Progress& progress);
  RunPhase after_counting(const Progress& progress);
  RunPhase before_quiet(const Progress& progress);
  RunPhase after_quiet(const Progress& progress) const;
  void enter(RunPhase phase, std::uint64_t time);

  RunPhase phase_ = RunPhase::start_up;
  std::uint64_t since_ = 0;
  std::uint64_t looked_ = 0, launches_ = 0;      ///< time and launches of the last call
  std::uint64_t launching_ = 0;                  ///< ns of this phase between calls in which something was launched
  std::uint64_t pause_ = 0;                      ///< length of the present quiet phase
  std::uint64_t shortest_ = 0;                   ///< of a quiet phase that a lost marker ends
  std::uint64_t sampled_since_ = 0;              ///< instructions; 0: not yet in this phase
  std::uint64_t counted_since_ = 0;              ///< cost when counting went on, and one; 0: not in this phase
  bool instructions_ = false;                    ///< a phase of them is to follow the sample
  RunPhase after_sampled_ = RunPhase::start_up;  ///< what follows the present phase of instructions
  bool glimpsed_ = false;
  bool sampled_ = false;  ///< uncounted steady steps are recorded
  bool count_on_ = true;  ///< counting may be resumed
  bool in_job_ = false;
  Run run_ = Run::only;
};

}  // namespace roofline::inject
