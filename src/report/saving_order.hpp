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

/// Moves the largest part of what the host computes between launches before slow launches where all these parts
/// together take longer: each is of one function, but slow launches are of all lines. Arguments as those of
/// put_waits_first().
template <typename T, typename CauseOf>
void put_host_code_first(std::vector<T>& savings, const CauseOf& cause_of) {
  const auto of_host = [&](const T& saving) {
    const std::optional<SavingCause> cause = cause_of(saving);
    return !saving.one_off && (cause == SavingCause::host_python || cause == SavingCause::host_native ||
                               cause == SavingCause::data_loading);
  };
  const auto slow =
      std::find_if(savings.begin(), savings.end(), [&](const T& saving) { return of_launching(cause_of(saving)); });
  const auto largest = std::find_if(savings.begin(), savings.end(), of_host);
  if (slow == savings.end() || largest < slow) return;
  double all = 0;
  for (const T& saving : savings) all += of_host(saving) ? saving.seconds : 0;
  if (all > slow->seconds) std::rotate(slow, largest, std::next(largest));
}

/// True for causes that delay the host of a rank, or all ranks at a collective.
constexpr bool delays_ranks(std::optional<SavingCause> cause) {
  if (!cause) return false;
  switch (*cause) {
    case SavingCause::data_loading:
    case SavingCause::few_workers:
    case SavingCause::pageable_copy:
    case SavingCause::item_sync:
    case SavingCause::synchronize:
    case SavingCause::logging_sync:
    case SavingCause::profiler_on:
    case SavingCause::gil:
    case SavingCause::tiny_kernels:
    case SavingCause::unfused_optimizer:
    case SavingCause::allocation:
    case SavingCause::new_communicators:
    case SavingCause::recompilation:
    case SavingCause::host_python:
    case SavingCause::host_native:
    case SavingCause::launch_rate:
    case SavingCause::small_messages:
    case SavingCause::exposed_communication:
      return true;
    default:
      return false;
  }
}

/// Moves a cause before the waiting of ranks whose hosts take turns being late: that waiting follows from it. It is the
/// one at the line that they wait at, else the largest one, if it is a considerable part. Arguments as those of
/// put_waits_first().
template <typename T, typename CauseOf>
void put_uneven_hosts_later(std::vector<T>& savings, const CauseOf& cause_of) {
  constexpr double kGoodPart = 0.25;
  const auto uneven = std::find_if(savings.begin(), savings.end(),
                                   [&](const T& saving) { return cause_of(saving) == SavingCause::uneven_hosts; });
  if (uneven == savings.end()) return;
  const auto delays = [&](const T& saving) {
    return delays_ranks(cause_of(saving)) && !saving.one_off && saving.seconds >= kGoodPart * uneven->seconds;
  };
  auto cause = std::find_if(std::next(uneven), savings.end(), [&](const T& saving) {
    return delays(saving) && !saving.line.empty() && saving.line == uneven->line;
  });
  if (cause == savings.end()) cause = std::find_if(std::next(uneven), savings.end(), delays);
  if (cause != savings.end()) std::rotate(uneven, cause, std::next(cause));
}

/// All of these, for savings that are sorted, largest first.
template <typename T, typename CauseOf>
void put_causes_first(std::vector<T>& savings, const CauseOf& cause_of) {
  put_waits_first(savings, cause_of);
  put_host_code_first(savings, cause_of);
  put_uneven_hosts_later(savings, cause_of);
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
