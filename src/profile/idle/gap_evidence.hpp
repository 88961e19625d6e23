// What samples of a launching thread say about gaps that are alike.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "profile/idle/idle_gaps.hpp"
#include "profile/idle/thread_samples.hpp"

namespace roofline {

/// One key for all lines of a function.
std::string function_at(const HostPlace& place);

/// Samples of a set of gaps.
struct Evidence {
  struct Share {
    double weight = 0;
    std::map<std::string, double> lines;  ///< weight of each
    std::string fact;                     ///< what the samples show besides the line
  };
  std::map<std::tuple<SavingCause, CauseDetail, std::string>, Share> causes;  ///< with the function
  double weight = 0;
  std::int64_t samples = 0;

  /// Fraction of the samples with that detail of their cause.
  double share_of(CauseDetail detail) const;
};

class GapEvidence {
 public:
  GapEvidence(const Recording& recording, const ThreadSamples& samples) : recording_(recording), samples_(samples) {}

  /// Reads the samples of all gaps. Of gaps in which the profiler was at work, nothing is left to explain.
  void collect(std::vector<IdleGap>& gaps);
  /// From the narrowest set with enough samples; null if none has.
  const Evidence* of(const IdleGap& gap);

 private:
  /// Gaps that are alike, from the narrowest set to the widest: samples of all of them say what the host did in each.
  struct AlikeKey {
    int process = 0;
    std::uint32_t thread = 0;
    bool full_speed = false, input_copy = false;
    int length = 0;       ///< of the host's time, as a power of four; 0 in wider sets
    spool::Id place = 0;  ///< 0 in wider sets

    auto operator<=>(const AlikeKey&) const = default;
  };
  static constexpr int kWidths = 3;

  AlikeKey key_of(const IdleGap& gap, int width) const;
  int thread_of(const IdleGap& gap) const;
  /// True if the profiler was at work in most of the gap. Stacks in its libraries are often cut, so that some samples
  /// show no profiler.
  bool is_ours(const IdleGap& gap, std::span<const int> samples) const;
  /// For gaps in which the thread was never sampled (sampling ran in another phase): all its samples except launching
  /// and waiting for the GPU.
  const Evidence* of_phase(const IdleGap& gap);
  void find_facts(const AlikeKey& key, Evidence& evidence);
  const std::optional<LockHolder>& lock_holder(int thread);

  const Recording& recording_;
  const ThreadSamples& samples_;
  std::array<std::map<AlikeKey, Evidence>, kWidths> sets_;
  std::map<AlikeKey, Evidence> phase_;
  std::map<int, std::optional<LockHolder>> lock_holders_;  ///< by thread that waits
};

}  // namespace roofline
