// Idle time summed by cause and line, with the figures that show it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profile/idle_causes.hpp"
#include "report/profile.hpp"

namespace roofline {

/// What is added to one cause at a time.
struct IdleShare {
  int device = 0;
  SavingCause cause = SavingCause::unknown_idle;
  CauseDetail detail = CauseDetail::none;
  std::string group;  ///< shares of one group become one part: a function, a line
  std::string line;
  double seconds = 0;
  std::size_t gap = 0;  ///< number of the gap that it is a part of; shares come in their order
  double gap_s = 0;     ///< the length of that gap
};

class IdleSums {
 public:
  struct Sum {
    double seconds = 0;
    std::map<std::string, double> lines;
    std::map<std::string, double> calls;  ///< of the driver
    std::map<std::string, double> facts;  ///< other evidence, each with its seconds
    std::vector<double> gaps;             ///< lengths, seconds
    std::size_t last_gap = 0;

    std::string line() const;
  };

  Sum& add(const IdleShare& share);

  /// Small parts of a cause are added to its largest one. Largest first.
  std::vector<IdlePart> parts() const;

  /// Moves a cause's part of that line to another cause, of which nothing more is known.
  void rename(int device, SavingCause from, const std::string& line, SavingCause to,
              CauseDetail detail = CauseDetail::none);

 private:
  std::map<std::tuple<int, SavingCause, CauseDetail, std::string>, Sum> sums_;
};

}  // namespace roofline
