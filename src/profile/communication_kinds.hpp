// Cost of each kind of collective while no other kernel runs, and the part due to pipeline stages.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/collective_neighbours.hpp"
#include "profile/collective_origins.hpp"
#include "profile/ranks.hpp"

namespace roofline {

/// A part of the transfer of one kind.
struct CommunicationPart {
  double transfer_s = 0;
  std::map<std::string, double> lines = {};
};

/// Sums over all ranks in the steps, while no other kernel runs.
struct CommunicationKind {
  double waiting_s = 0;   ///< waiting for later ranks
  double transfer_s = 0;  ///< transfer, or not matched with other ranks
  double calls = 0;
  std::map<std::string, double> lines = {};  ///< seconds of transfer per line
  std::map<std::string, double> waits = {};  ///< seconds of waiting per line
  std::map<CollectiveOrigin, CommunicationPart> origins = {};

  double transfer_of(CollectiveOrigin origin) const;
  /// Without the transfer of that origin.
  void remove(CollectiveOrigin origin);
};

struct CommunicationKinds {
  std::map<spool::CollectiveKind, CommunicationKind> kinds;
  /// Waiting for another rank in single sends and receives, as between pipeline stages.
  double stages_wait_s = 0;
  double stages_unmatched_s = 0;  ///< part of that in RankParts::transfer_s, because the other rank's kernel is unknown
  double stages_transfer_s = 0;   ///< rest of their time
  std::map<std::string, double> stage_lines = {};  ///< seconds of waiting per line
  /// Waiting in small collectives that the program itself calls several times per step: not of modules or autograd.
  double repeated_wait_s = 0;
  /// Layers of the model: modules that differ in their first number only.
  std::int64_t layers = 0;
  std::int64_t micro_batches = 1;  ///< of a step that reduce its gradients, each by itself

  CollectiveNeighbours neighbours = {};  ///< of the kind with the most transfer
  std::string table_line = {};           ///< that looks up the embedding of `neighbours`
  GatheredHeads heads = {};

  /// The kind with the most transfer; null if there is none.
  const std::pair<const spool::CollectiveKind, CommunicationKind>* largest() const;
  /// Seconds of transfer of that origin in these kinds of collectives.
  double transfer_s(std::initializer_list<spool::CollectiveKind> of, CollectiveOrigin origin) const;
  /// Seconds of waiting in all kinds of collectives.
  double waiting_s() const;
  /// Seconds of waiting in that kind of collective.
  double waiting_s(spool::CollectiveKind kind) const;
  /// The line with most of all waiting; empty if there is none.
  std::string line_of_waiting() const;
};

CommunicationKinds communication_kinds(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                       const Machine& machine);

}  // namespace roofline
