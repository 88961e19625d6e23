// The best values of earlier calibrations, passed on from each to the next.
#include "calibrate/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrate/machine_store.hpp"
#include "measure/audit.hpp"
#include "model/nan.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kRemembered_s = std::int64_t{30} * 24 * 3600;

bool same_host(const Machine& a, const Machine& b) {
  const std::string* one = find_attribute(a.device.attributes, AttributeKey::host_name);
  const std::string* other = find_attribute(b.device.attributes, AttributeKey::host_name);
  return one != nullptr && other != nullptr && *one == *other;
}

/// True if it may be too low, but not too high.
bool sound(const Ceiling& ceiling) {
  const auto& checks = ceiling.audit.checks;
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.status != CheckStatus::fail || is_noise_check(check) || check.name == kHistoryCheck;
  });
}

bool comparable(const Machine& now, const Machine& kept) {
  return same_host(now, kept) && staleness(kept, now.device, now.tool_version).empty();
}

/// Caches and pipes of a GPU depend on power and temperature, and have their own checks.
bool held(const Ceiling& ceiling, DeviceKind device) {
  if (ceiling.role != Role::roof || ceiling.regime != Regime::burst) return false;
  const bool memory = ceiling.kind == CeilingKind::bandwidth && ceiling.level == main_memory(device);
  return memory || (device == DeviceKind::cpu && follows_core_clock(ceiling));
}

/// The same roof of `kept`; null if it is not compared with earlier ones or is not reliable.
const Ceiling* earlier_of(const Machine& now, const Ceiling& ceiling, const Machine& kept) {
  if (!held(ceiling, now.device.kind)) return nullptr;
  const Ceiling* before = kept.find(ceiling.name);
  return before != nullptr && sound(*before) ? before : nullptr;
}

/// Ratio of a roof to its earlier value: per cycle, if it runs at the core clock and that is known.
double rise(const Ceiling& ceiling, const Ceiling& before) {
  const double in_a_cycle = follows_core_clock(ceiling) ? share_in_a_cycle(ceiling, before) : kNaN;
  const double share = ceiling.value / before.value;
  return std::isnan(in_a_cycle) ? share : std::min(share, in_a_cycle);
}

/// Adds what `wanted` accepts of the entries of an earlier calibration, each behind its predecessor there.
template <class Entry, class Wanted, class Same>
void insert_earlier(std::vector<Entry>& now, const std::vector<Entry>& kept, const std::string& measured_at,
                    const Wanted& wanted, const Same& same) {
  std::size_t place = 0;
  for (const Entry& entry : kept) {
    const auto found = std::find_if(now.begin(), now.end(), [&](const Entry& one) { return same(one, entry); });
    if (found != now.end()) {
      place = static_cast<std::size_t>(found - now.begin()) + 1;
    } else if (wanted(entry)) {
      now.insert(now.begin() + static_cast<std::ptrdiff_t>(place), entry);
      if (now[place].measured_at.empty()) now[place].measured_at = measured_at;
      ++place;
    }
  }
}

}  // namespace

void keep_earlier_ceilings(Machine& now, const Machine& kept) {
  if (now.quick || now.cancelled || !comparable(now, kept)) return;
  const auto had_no_time = [&](const std::string& name) {
    return std::ranges::any_of(now.unmeasured, [&](const Unmeasured& one) { return one.no_time && one.name == name; });
  };
  const auto wanted = [&](const Ceiling& ceiling) {
    const bool sustained = ceiling.regime == Regime::sustained;
    return had_no_time(ceiling.name) || (sustained && had_no_time(ceiling.name + Unmeasured::kSustained));
  };
  insert_earlier(now.ceilings, kept.ceilings, kept.measured_at, wanted,
                 [](const Ceiling& a, const Ceiling& b) { return a.name == b.name && a.regime == b.regime; });
  insert_earlier(
      now.sweeps, kept.sweeps, kept.measured_at, [&](const Sweep& sweep) { return had_no_time(sweep.name); },
      [](const Sweep& a, const Sweep& b) { return a.name == b.name; });
  std::erase_if(now.unmeasured, [&](const Unmeasured& one) {
    const auto is_named = [&](const auto& entry) { return entry.name == one.name; };
    const auto is_sustained = [&](const Ceiling& ceiling) {
      return ceiling.regime == Regime::sustained && ceiling.name + Unmeasured::kSustained == one.name;
    };
    return one.no_time && (std::ranges::any_of(now.ceilings, is_named) || std::ranges::any_of(now.sweeps, is_named) ||
                           std::ranges::any_of(now.ceilings, is_sustained));
  });
}

std::string was_slow(const Machine& now, const Machine& kept) {
  if (!comparable(now, kept)) return {};
  const Ceiling* most = nullptr;
  double factor = 1 + kSameAsBefore;
  for (const Ceiling& ceiling : now.ceilings) {
    const Ceiling* before = earlier_of(now, ceiling, kept);
    // One that was not confirmed has already been reported.
    if (before == nullptr || before->suspect() || before->provisional() || !(rise(ceiling, *before) > factor)) continue;
    most = &ceiling;
    factor = rise(ceiling, *before);
  }
  if (most == nullptr) return {};
  return fmt::format(
      "The calibration of {} was slow: {} is now {:.2f} times as fast. Reports made with that calibration "
      "overstate their share of this roof",
      kept.measured_at, most->name, factor);
}

void compare_with_history(Machine& now, const Machine& kept, std::int64_t now_s) {
  if (!comparable(now, kept)) return;
  for (Ceiling& ceiling : now.ceilings) {
    const Ceiling* before = earlier_of(now, ceiling, kept);
    if (before == nullptr) continue;
    std::optional<PastBest> most = before->past_best;
    if (!most || before->value > most->value) {
      most = PastBest{before->value, before->measured_at.empty() ? kept.measured_at : before->measured_at,
                      before->clocks.core_hz};
    }
    const std::optional<std::int64_t> then_s = seconds_since_1970(most->measured_at);
    if (!then_s || now_s - *then_s > kRemembered_s || !(most->value > ceiling.value)) continue;
    ceiling.past_best = most;
    ceiling.audit.checks.push_back(audit_history(ceiling));
  }
}

}  // namespace roofline
