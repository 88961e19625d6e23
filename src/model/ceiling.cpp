// Spellings of the ceiling vocabulary, and how checks add up to an audit.
#include "model/ceiling.hpp"

#include <algorithm>
#include <array>

#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"bandwidth", "compute", "overhead"};
constexpr std::array<std::string_view, 3> kUnits = {"byte/s", "FLOP/s", "launch/s"};
constexpr std::array<std::string_view, 2> kRegimes = {"burst", "sustained"};
constexpr std::array<std::string_view, 3> kStatuses = {"pass", "fail", "not_run"};

}  // namespace

CheckStatus Audit::status() const {
  const auto any = [&](CheckStatus wanted) {
    return std::any_of(checks.begin(), checks.end(), [&](const Check& check) { return check.status == wanted; });
  };
  if (any(CheckStatus::fail)) return CheckStatus::fail;
  return any(CheckStatus::pass) ? CheckStatus::pass : CheckStatus::not_run;
}

std::string_view to_string(CeilingKind kind) { return spell(kKinds, kind); }
std::string_view to_string(Regime regime) { return spell(kRegimes, regime); }
std::string_view to_string(CheckStatus status) { return spell(kStatuses, status); }
std::optional<CeilingKind> parse_ceiling_kind(std::string_view text) { return unspell<CeilingKind>(kKinds, text); }
std::optional<Regime> parse_regime(std::string_view text) { return unspell<Regime>(kRegimes, text); }
std::optional<CheckStatus> parse_check_status(std::string_view text) { return unspell<CheckStatus>(kStatuses, text); }

std::string_view unit_of(CeilingKind kind) { return spell(kUnits, kind); }

}  // namespace roofline
