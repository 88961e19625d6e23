// Times a program's steps by a mark that occurs once per step, if enabling the mark's callbacks all the time costs too
// much. After each mark they are disabled for most of a step, so the next mark that is seen ends that step. Independent
// of CUPTI and of clocks.
#pragma once

#include <cstdint>
#include <deque>

namespace roofline::inject {

class Pacer {
 public:
  struct Seen {
    bool step = false;             ///< exactly one step since the previous mark; false: unknown
    std::uint64_t look_again = 0;  ///< disable callbacks until then; 0: leave them enabled
  };
  /// A mark came while callbacks were enabled.
  Seen seen(std::uint64_t time);
  /// Marks since the last one may have been missed.
  void interrupted() { last_ = 0; }

 private:
  bool is_step(std::uint64_t elapsed) const;
  std::uint64_t silence() const;

  std::uint64_t last_ = 0;
  int watched_ = 0;                   ///< steps in a row with callbacks enabled throughout
  int skipped_ = 0;                   ///< steps in a row with callbacks disabled for most of the step
  int unclear_ = 0;                   ///< of them, the latest intervals that may be several steps
  std::deque<std::uint64_t> recent_;  ///< lengths of steps, ns
};

}  // namespace roofline::inject
