// The order in which savings are worth looking at, where it is not the order of their sizes.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "report/profile.hpp"

namespace roofline {

/// Of a host that launches too slowly for the GPU.
constexpr bool of_launching(std::optional<SavingCause> cause) {
  return cause == SavingCause::tiny_kernels || cause == SavingCause::launch_rate;
}

/// Waits for the GPU and many small collectives that are a good part of the time that slow launches take come before
/// those: a CUDA graph, which would make launches fast, cannot contain such waits, and each collective makes all ranks'
/// hosts wait for the slowest. Of waits at the launches' own line a smaller part is enough, and of a profiler, which
/// slows down every launch besides what it takes itself. `savings` are sorted, the largest first, and have `seconds`
/// and `line`; `cause_of` gives their cause, or nothing.
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

/// Of code that is loaded or compiled.
constexpr bool of_loading(std::optional<SavingCause> cause) {
  return cause == SavingCause::module_load || cause == SavingCause::recompilation;
}

/// Code that was loaded or compiled once, at the start. `saving` has `cause` and `one_off`.
template <typename T>
bool of_start_up(const T& saving) {
  return saving.one_off && of_loading(saving.cause);
}

}  // namespace roofline
