// Sums of idle time by cause and line, with supporting figures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profile/idle_causes.hpp"
#include "report/profile.hpp"

namespace roofline {

/// One contribution to a cause.
struct IdleShare {
  int device = 0;
  SavingCause cause = SavingCause::unknown_idle;
  CauseDetail detail = CauseDetail::none;
  std::string group;  ///< contributions with the same group (function, line) become one part
  std::string line;
  double seconds = 0;
  std::size_t gap = 0;  ///< number of its gap; contributions come in gap order
  double gap_s = 0;     ///< length of that gap
};

class IdleSums {
 public:
  struct Sum {
    double seconds = 0;
    std::map<std::string, double> lines;
    std::map<std::string, double> calls;  ///< driver calls
    std::map<std::string, double> facts;  ///< other evidence, in seconds
    std::vector<double> gaps;             ///< lengths, seconds
    std::size_t last_gap = 0;

    std::string line() const;
  };

  Sum& add(const IdleShare& share);

  /// Parts, largest first. Small parts of a cause are merged into its largest one.
  std::vector<IdlePart> parts() const;

  /// Moves the part of a cause at that line to another cause without further details.
  void rename(int device, SavingCause from, const std::string& line, SavingCause to,
              CauseDetail detail = CauseDetail::none);

  /// Joins what one line of a function does before copies to the GPU and before other work: it is the same code. The
  /// larger part names the cause.
  void join_host_code();

  /// Adds what is nearly all at one line of the file to the part with that detail there, whatever its cause: calls and
  /// launches of torch.save's line are parts of saving.
  void gather_at_lines_of(CauseDetail detail);

 private:
  using Key = std::tuple<int, SavingCause, CauseDetail, std::string>;  ///< device, cause, detail and group
  std::map<Key, Sum> sums_;
};

}  // namespace roofline
