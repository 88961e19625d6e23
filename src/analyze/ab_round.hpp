// One round of `roofline ab`: both sides of a row prepared again, with new buffers, and timed in alternation.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "config/suite.hpp"
#include "device/device.hpp"
#include "measure/pairs.hpp"
#include "op/buffer_pool.hpp"
#include "report/report.hpp"

namespace roofline {

enum class AbSide : std::uint8_t { before, now };

struct AbRoundPlan {
  std::array<const SuiteEntry*, 2> entries = {};  ///< by AbSide; without a reason to skip
  AbSide first = AbSide::before;                  ///< is prepared and timed first
  bool verify = true;                             ///< false: both sides were verified in an earlier round
  /// Device memory that is held while each side is prepared, so that its buffers lie elsewhere than in the round
  /// before. Not of rounds whose memory is dealt.
  std::array<std::size_t, 2> held_bytes = {};
  /// The memory of large rounds, which is dealt to the sides at random in each (is_dealt()); must outlive them. Null:
  /// all rounds get new memory.
  BufferPool* pool = nullptr;
};

/// Free memory of the device as it counts for a side's buffer sets: 1 GiB of sets (an eighth), unless twice the
/// last-level cache is more. docs/method.md gives the reason.
inline constexpr double kMostFreeOfAb = 8.0 * (1 << 30);

/// True if the sides of a row take their memory from a pool in each round: on a CPU, if it is large, and if both sides
/// have tensors of the same sizes.
///
/// Under the hypothesis that both sides are equal, the rule of the gate needs the logarithms of the rounds' ratios to
/// be independent and symmetric about zero. New memory in every round gives that, at the cost of new pages. A pool
/// gives it too: it holds the buffers of both sides, and each round deals all of them anew, so that each placement is
/// as likely to be the earlier side's as the later one's, whatever the other rounds did. That holds only if either side
/// can get every buffer; otherwise each would keep its placements, and their difference would look like one of the
/// kernels.
bool is_dealt(const std::array<const SuiteEntry*, 2>& entries, const Device& device);

struct AbRoundResult {
  /// By AbSide: status, reason, verification and contention. The time is the median of the blocks, or an estimate if
  /// the other side failed.
  std::array<Outcome, 2> sides = {};
  std::array<std::string, 2> implementations = {};  ///< that ran
  std::optional<PairedRatio> ratio = {};            ///< time now over time before; only if both sides are ok
};

/// Errors become the outcome of their side, except PoisonedDevice, which is propagated because the device is lost. `at`
/// is called before each step with the side that it works on; nothing: both.
AbRoundResult measure_ab_round(const AbRoundPlan& plan, Device& device, const PairOptions& options,
                               const std::function<void(std::optional<AbSide>)>& at);

}  // namespace roofline
