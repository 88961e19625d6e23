// Spellings of the ceiling vocabulary, and the status of an audit.
#include "model/ceiling.hpp"

#include <algorithm>
#include <array>

#include "model/find.hpp"
#include "model/nan.hpp"
#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"bandwidth", "compute", "overhead", "latency"};
constexpr std::array<std::string_view, 4> kUnits = {"byte/s", "FLOP/s", "launch/s", "access/s"};
constexpr std::array<std::string_view, 2> kRoles = {"roof", "reference"};
constexpr std::array<std::string_view, 2> kRegimes = {"burst", "sustained"};
constexpr std::array<std::string_view, 4> kStatuses = {"pass", "provisional", "fail", "not_run"};

}  // namespace

CheckStatus Audit::status() const {
  const auto any = [&](CheckStatus wanted) {
    return std::any_of(checks.begin(), checks.end(), [&](const Check& check) { return check.status == wanted; });
  };
  if (any(CheckStatus::fail)) return CheckStatus::fail;
  if (any(CheckStatus::provisional)) return CheckStatus::provisional;
  return any(CheckStatus::pass) ? CheckStatus::pass : CheckStatus::not_run;
}

double share_in_a_cycle(const Ceiling& ceiling, const Ceiling& other) {
  if (!ceiling.clocks.core_hz || !other.clocks.core_hz) return kNaN;
  return ceiling.value / *ceiling.clocks.core_hz / (other.value / *other.clocks.core_hz);
}

bool follows_core_clock(const Ceiling& ceiling) {
  if (ceiling.kind == CeilingKind::compute) return true;
  constexpr std::array kCaches = {Level::l1, Level::shared, Level::l2, Level::l3};
  return ceiling.kind == CeilingKind::bandwidth && ceiling.level && contains(kCaches, *ceiling.level);
}

double share_in_a_cycle_of_before(const Ceiling& ceiling) {
  if (!ceiling.past_best) return kNaN;
  Ceiling before;
  before.value = ceiling.past_best->value;
  before.clocks.core_hz = ceiling.past_best->core_hz;
  return share_in_a_cycle(ceiling, before);
}

std::string_view to_string(CeilingKind kind) { return spell(kKinds, kind); }
std::string_view to_string(Regime regime) { return spell(kRegimes, regime); }
std::string_view to_string(Role role) { return spell(kRoles, role); }
std::string_view to_string(CheckStatus status) { return spell(kStatuses, status); }
std::optional<CeilingKind> parse_ceiling_kind(std::string_view text) { return unspell<CeilingKind>(kKinds, text); }
std::optional<Regime> parse_regime(std::string_view text) { return unspell<Regime>(kRegimes, text); }
std::optional<Role> parse_role(std::string_view text) { return unspell<Role>(kRoles, text); }
std::optional<CheckStatus> parse_check_status(std::string_view text) { return unspell<CheckStatus>(kStatuses, text); }

std::optional<double> write_share(Pattern pattern) {
  switch (pattern) {
    case Pattern::read:
      return 0.0;
    case Pattern::read4_write1:
      return 1.0 / 5.0;
    case Pattern::triad:
    case Pattern::accumulate:
      return 1.0 / 3.0;
    case Pattern::copy:
    case Pattern::update:
      return 1.0 / 2.0;
    case Pattern::read1_write2:
      return 2.0 / 3.0;
    case Pattern::read1_write4:
      return 4.0 / 5.0;
    case Pattern::write:
      return 1.0;
    case Pattern::h2d:
    case Pattern::d2h:
    case Pattern::duplex:
      break;
  }
  return std::nullopt;
}

std::string_view unit_of(CeilingKind kind) { return spell(kUnits, kind); }

}  // namespace roofline
