// Times a program's steps by a mark that comes once in each, where looking for the mark costs too much to be done all
// the time. After a mark nobody looks for most of a step, so that the next one that is seen is the next step's. Knows
// neither CUPTI nor a clock.
#pragma once

#include <cstdint>
#include <deque>

namespace roofline::inject {

class Pacer {
 public:
  struct Seen {
    bool step = false;             ///< one step went by since the mark before; false: none or several may have
    std::uint64_t look_again = 0;  ///< time from which on to look; 0: go on looking
  };
  /// A mark came while it was looked for.
  Seen seen(std::uint64_t time);
  /// Nobody has looked since the last mark, for another reason.
  void interrupted() { last_ = 0; }

 private:
  bool is_step(std::uint64_t elapsed) const;
  std::uint64_t silence() const;

  std::uint64_t last_ = 0;
  int watched_ = 0;                   ///< steps in a row in which the mark was looked for all the time
  int skipped_ = 0;                   ///< steps in a row in which it was not
  int unclear_ = 0;                   ///< of them, the last ones that may have been several
  std::deque<std::uint64_t> recent_;  ///< lengths of steps, ns
};

}  // namespace roofline::inject
