// Many small collectives, one after the other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profile/idle_causes.hpp"
#include "profile/ranks.hpp"

namespace roofline {

/// Small collectives that follow another one without a kernel in between: they could be merged with it. Of all ranks,
/// in the steps.
struct SmallMessages {
  double calls = 0, exposed_s = 0, bytes = 0;
  double waited_s = 0;                       ///< in them for other ranks, without other kernels
  std::map<std::string, double> lines = {};  ///< exposed seconds of each
  bool many = false;                         ///< enough in each step to be worth merging

  /// Ranks that launch many of them one by one drift apart: most waiting is in them.
  bool explain_waiting(const RankSteps& steps) const;
};

SmallMessages small_messages(const Job& job, const Recording& recording, const std::vector<Span>& spans);

/// The host is slow at launching many small collectives: they are the cause.
void name_small_messages(std::vector<IdlePart>& parts, const SmallMessages& small);

}  // namespace roofline
