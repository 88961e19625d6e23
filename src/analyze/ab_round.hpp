// One round of `roofline ab`: both sides of a row prepared again, with new buffers, and timed in alternation.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "config/suite.hpp"
#include "device/device.hpp"
#include "measure/pairs.hpp"
#include "report/report.hpp"

namespace roofline {

enum class AbSide : std::uint8_t { before, now };

struct AbRoundPlan {
  std::array<const SuiteEntry*, 2> entries = {};  ///< by AbSide; without a reason to skip
  AbSide first = AbSide::before;                  ///< is prepared and timed first
  bool verify = true;                             ///< false: both sides were verified in an earlier round
  /// Device memory that is held while each side is prepared, so that its buffers lie elsewhere than in the round
  /// before.
  std::array<std::size_t, 2> held_bytes = {};
};

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
