// What each kind of collective costs a job where no other kernel runs, and what of it pipeline stages wait for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/ranks.hpp"

namespace roofline {

/// Of all ranks in the steps, without other kernels.
struct CommunicationKind {
  double waiting_s = 0;   ///< for later ranks
  double transfer_s = 0;  ///< or not matched with other ranks
  double calls = 0;
  std::map<std::string, double> lines = {};  ///< seconds of transfer at each
};

struct CommunicationKinds {
  std::map<spool::CollectiveKind, CommunicationKind> kinds;
  /// In single sends and receives, as pipeline stages have them, for another rank to come.
  double stages_wait_s = 0;
  double stages_unmatched_s = 0;  ///< of that: in RankParts::transfer_s, as the other rank's kernel is not known
  double stages_transfer_s = 0;   ///< the rest of their time
  std::map<std::string, double> stage_lines = {};  ///< seconds of waiting at each

  /// That with most transfer; null: there is none.
  const std::pair<const spool::CollectiveKind, CommunicationKind>* largest() const;
  /// Seconds of waiting in that kind.
  double waiting_s(spool::CollectiveKind kind) const;
};

CommunicationKinds communication_kinds(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                       const Machine& machine);

}  // namespace roofline
