// Order in which savings should be addressed, where it differs from the order of their sizes.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "report/profile.hpp"

namespace roofline {

/// True for causes of slow launching by the host.
constexpr bool of_launching(std::optional<SavingCause> cause) {
  return cause == SavingCause::tiny_kernels || cause == SavingCause::launch_rate;
}

/// Moves GPU waits and small collectives before slow launches if they are a considerable part of that time: a CUDA
/// graph, the remedy for slow launches, cannot contain such waits, and each collective makes all hosts wait for the
/// slowest. The threshold is lower for waits at the launching line and for profilers, which slow down every launch.
/// `savings` are sorted, largest first, and have `seconds` and `line`; `cause_of` returns their cause or std::nullopt.
template <typename T, typename CauseOf>
void put_waits_first(std::vector<T>& savings, const CauseOf& cause_of) {
  constexpr double kGoodPart = 0.25, kSmallPart = 0.1;
  const auto waits = [&](const T& saving) {
    const std::optional<SavingCause> cause = cause_of(saving);
    return cause == SavingCause::item_sync || cause == SavingCause::synchronize || cause == SavingCause::logging_sync ||
           cause == SavingCause::small_messages;
  };
  const auto slow =
      std::find_if(savings.begin(), savings.end(), [&](const T& saving) { return of_launching(cause_of(saving)); });
  if (slow == savings.end()) return;
  const double all = slow->seconds;
  const std::string line = slow->line;
  std::stable_partition(slow, savings.end(), [&](const T& saving) {
    const bool profiler = cause_of(saving) == SavingCause::profiler_on;
    const double least = (profiler || (!line.empty() && saving.line == line) ? kSmallPart : kGoodPart) * all;
    return (waits(saving) || profiler) && !saving.one_off && saving.seconds >= least;
  });
}

/// True for loading and compiling of code.
constexpr bool of_loading(std::optional<SavingCause> cause) {
  return cause == SavingCause::module_load || cause == SavingCause::recompilation;
}

/// True if code was loaded or compiled once, at the start. `saving` has `cause` and `one_off`.
template <typename T>
bool of_start_up(const T& saving) {
  return saving.one_off && of_loading(saving.cause);
}

}  // namespace roofline
