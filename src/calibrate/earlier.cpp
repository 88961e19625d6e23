// The most that earlier calibrations reached, handed on from each to the next.
#include "calibrate/earlier.hpp"

#include <algorithm>
#include <string>

#include "calibrate/machine_store.hpp"
#include "measure/audit.hpp"
#include "model/attributes.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kRemembered_s = std::int64_t{30} * 24 * 3600;

bool same_host(const Machine& a, const Machine& b) {
  const std::string* one = find_attribute(a.device.attributes, "host name");
  const std::string* other = find_attribute(b.device.attributes, "host name");
  return one != nullptr && other != nullptr && *one == *other;
}

/// Whether it may be too low, but not too high.
bool sound(const Ceiling& ceiling) {
  const auto& checks = ceiling.audit.checks;
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.status != CheckStatus::fail || of_unrest(check) || check.name == kEarlierCheck;
  });
}

}  // namespace

void hold_against_earlier(Machine& now, const Machine& kept, std::int64_t now_s) {
  if (!same_host(now, kept) || !staleness(kept, now.device, now.tool_version).empty()) return;
  for (Ceiling& ceiling : now.ceilings) {
    const bool held = ceiling.kind == CeilingKind::bandwidth && ceiling.level == main_memory(now.device.kind) &&
                      ceiling.role == Role::roof && ceiling.regime == Regime::burst;
    const Ceiling* before = held ? kept.find(ceiling.name) : nullptr;
    if (before == nullptr || !sound(*before)) continue;
    std::optional<EarlierValue> most = before->earlier;
    if (!most || before->value > most->value) most = EarlierValue{before->value, kept.measured_at};
    const std::optional<std::int64_t> then_s = seconds_since_1970(most->measured_at);
    if (!then_s || now_s - *then_s > kRemembered_s || !(most->value > ceiling.value)) continue;
    ceiling.earlier = most;
    ceiling.audit.checks.push_back(audit_earlier(ceiling));
  }
}

}  // namespace roofline
