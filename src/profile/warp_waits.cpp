#include "profile/warp_waits.hpp"

#include <array>
#include <utility>

namespace roofline {
namespace {

/// True for results whose latency the compiler does not know: from L1 and beyond (`far`), or from within the SM.
bool comes_from(WaitFor what, bool far) {
  switch (what) {
    case WaitFor::global_load:
    case WaitFor::global_atomic:
    case WaitFor::local_memory:
    case WaitFor::texture:
    case WaitFor::async_copy:
      return far;
    case WaitFor::shared_load:
    case WaitFor::shared_atomic:
    case WaitFor::shared_store:
    case WaitFor::constant:
    case WaitFor::exchange:
    case WaitFor::special:
    case WaitFor::conversion:
    case WaitFor::fp64:
      return !far;
    default:
      return false;
  }
}

}  // namespace

bool is_scoreboard(std::string_view reason) { return reason == "long_scoreboard" || reason == "short_scoreboard"; }

WaitFor wait_of(SassKind kind) {
  switch (kind) {
    case SassKind::global_load:
      return WaitFor::global_load;
    case SassKind::global_store:
      return WaitFor::global_store;
    case SassKind::global_atomic:
      return WaitFor::global_atomic;
    case SassKind::local_load:
    case SassKind::local_store:
      return WaitFor::local_memory;
    case SassKind::shared_load:
      return WaitFor::shared_load;
    case SassKind::shared_store:
      return WaitFor::shared_store;
    case SassKind::shared_atomic:
      return WaitFor::shared_atomic;
    case SassKind::constant_load:
      return WaitFor::constant;
    case SassKind::texture:
      return WaitFor::texture;
    case SassKind::async_copy:
      return WaitFor::async_copy;
    case SassKind::shuffle:
      return WaitFor::exchange;
    case SassKind::special:
      return WaitFor::special;
    case SassKind::conversion:
      return WaitFor::conversion;
    case SassKind::fp64:
      return WaitFor::fp64;
    case SassKind::fp32:
    case SassKind::fp16:
    case SassKind::integer:
      return WaitFor::arithmetic;
    case SassKind::tensor:
    case SassKind::tensor_wait:
      return WaitFor::tensor;
    case SassKind::barrier:
      return WaitFor::barrier;
    case SassKind::fence:
      return WaitFor::fence;
    case SassKind::branch:
      return WaitFor::branch;
    case SassKind::sleep:
      return WaitFor::sleep;
    case SassKind::move:
    case SassKind::other:
      break;
  }
  return WaitFor::other;
}

std::string_view stall_reason(std::string_view metric) {
  constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
  if (!metric.starts_with(kPrefix) || metric.ends_with("_not_issued")) return {};
  return metric.substr(kPrefix.size());
}

WaitFor wait_for(std::string_view reason, SassKind kind, std::span<const SassKind> waited) {
  static constexpr std::array<std::pair<std::string_view, WaitFor>, 13> kFixed = {{
      {"selected", WaitFor::issuing},
      {"not_selected", WaitFor::ready},
      {"barrier", WaitFor::barrier},
      {"membar", WaitFor::fence},
      {"branch_resolving", WaitFor::branch},
      {"no_instructions", WaitFor::code},
      {"imc_miss", WaitFor::immediate},
      {"drain", WaitFor::global_store},
      {"sleeping", WaitFor::sleep},
      {"gmma", WaitFor::tensor},
      {"warpgroup_arrive", WaitFor::tensor},
      {"tex_throttle", WaitFor::texture},
      {"wait", WaitFor::result},
  }};
  for (const auto& [name, what] : kFixed) {
    if (name == reason) return what;
  }
  if (is_scoreboard(reason)) {
    const bool far = reason == "long_scoreboard";
    for (const SassKind one : waited) {
      if (comes_from(wait_of(one), far)) return wait_of(one);
    }
    return !waited.empty() && wait_of(waited.front()) != WaitFor::arithmetic ? wait_of(waited.front())
           : far                                                             ? WaitFor::global_load
                                                                             : WaitFor::other;
  }
  const WaitFor own = wait_of(kind);
  if (reason == "lg_throttle") {
    const bool memory = own == WaitFor::global_store || own == WaitFor::global_atomic || own == WaitFor::local_memory;
    return memory ? own : WaitFor::global_load;
  }
  if (reason == "mio_throttle" || reason == "math_pipe_throttle") return own;
  return WaitFor::other;
}

}  // namespace roofline
