// Times a program's steps by a mark that comes in each, where looking for the mark costs too much to be done all the
// time: a mark is seen, nobody looks for most of a step or for several, and the next mark is seen. How many steps went
// by is known, because the time of one is known well enough. Knows neither CUPTI nor a clock.
#pragma once

#include <cstdint>
#include <vector>

namespace roofline::inject {

class Pacer {
 public:
  struct Seen {
    std::uint32_t marks = 0;       ///< since the one before; 0: not known, or there was none before
    std::uint64_t look_again = 0;  ///< time from which on to look; 0: go on looking
  };
  /// A mark came while it was looked for.
  Seen seen(std::uint64_t time);
  /// Nobody has looked since the last mark for a reason of another kind.
  void interrupted() { last_ = 0; }

 private:
  static constexpr int kBurst = 8;  ///< marks in a row that give the interval to begin with
  std::uint64_t silence() const;

  double interval_ = 0;        ///< of a mark, ns
  double uncertainty_ = 0.2;   ///< of interval_, a fraction
  std::uint32_t skipped_ = 0;  ///< marks that the present silence is to last; 0: none
  std::uint64_t last_ = 0;
  std::vector<std::uint64_t> burst_;
  int failures_ = 0;
};

}  // namespace roofline::inject
