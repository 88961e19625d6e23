#include "profile/actions.hpp"

#include <string_view>

#include "profile/action_texts.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

const ActionTexts& most_specific(SavingCause cause, CauseDetail detail) {
  const ActionTexts* const texts = texts_of(detail);
  return texts != nullptr ? *texts : texts_of(cause);
}

}  // namespace

Framework framework_of(const Recording& recording) {
  for (const ProcessTrace& trace : recording.traces) {
    if (trace.times_by == "torch.profiler") return Framework::torch;
    if (trace.times_by == kXlaProfiler) return Framework::jax;
    for (const spool::Range& range : trace.ranges) {
      if (trace.text(range.name).starts_with("XlaModule") || trace.text(range.domain) == "TSL") return Framework::jax;
    }
  }
  bool fusions = false;
  for (const LaunchGroup& group : recording.groups) {
    // at::native, c10, Inductor's and modules; XLA names its kernels after HLO instructions.
    const bool torch = contains_any(group.symbol, {"2at6native", "at::native", "c10"}) || is_of_inductor(group.symbol);
    if (torch || !group.module.empty()) return Framework::torch;
    // cupy_add, cupyx_scipy_…; kernels of its users have their own names.
    if (group.symbol.starts_with("cupy")) return Framework::cupy;
    fusions |= contains_any(group.symbol, {"loop_", "input_", "wrapped_"}) &&
               contains_any(group.symbol, {"fusion", "wrapped_"});
  }
  return fusions ? Framework::jax : Framework::cuda;
}

std::string what_is_lost(SavingCause cause, CauseDetail detail) { return most_specific(cause, detail).what; }

std::string action_against(SavingCause cause, Framework framework, CauseDetail detail) {
  const ActionTexts& texts = most_specific(cause, detail);
  const std::string_view own = framework == Framework::torch  ? texts.torch
                               : framework == Framework::jax  ? texts.jax
                               : framework == Framework::cupy ? texts.cupy
                                                              : "";
  return std::string(own.empty() ? texts.cuda : own);
}

std::string action_for_copies(const CopySum& copy, double fraction, Framework framework) {
  constexpr double kSmall = 64 << 10;
  constexpr double kLinkSpeed = 0.7;
  if (copy.path.host() == CopyMemory::pageable) return action_against(SavingCause::pageable_copy, framework);
  if (copy.path.host() == CopyMemory::unified) {
    return "Prefetch it before use (cudaMemPrefetchAsync), or set its location (cudaMemAdvise).";
  }
  if (copy.bytes > 0 && copy.bytes / static_cast<double>(copy.copies) < kSmall) {
    return copy.path.direction == CopyDirection::host_to_device
               ? action_against(SavingCause::copies, framework, CauseDetail::small_copies)
               : "Merge small copies into one.";
  }
  if (copy.path.direction == CopyDirection::memset) {
    return "Drop memsets of memory that the next kernel overwrites entirely.";
  }
  if (copy.path.direction == CopyDirection::device_to_device) {
    return "Write the result in place, or fuse the copy into an adjacent kernel.";
  }
  if (fraction > kLinkSpeed) {
    return "At link speed: overlap the copies with kernels on another stream, or send fewer bytes.";
  }
  return action_against(SavingCause::copies, framework);
}

}  // namespace roofline
