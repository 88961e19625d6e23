// Suspect ceilings by cause, each with an action, and the background slowdown during the calibration.
#include "report/machine_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "measure/audit.hpp"
#include "measure/statistics.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Ceilings = std::vector<const Ceiling*>;

/// A typical sample below this share of the plateau counts as background slowdown.
constexpr double kDisturbed = 0.97;
constexpr double kUsualTime_s = 60;

/// Names with commas, the first few of many.
std::string names_of(const Ceilings& ceilings) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < ceilings.size(); ++i) {
    const bool last = i + 1 == ceilings.size();
    if (i == kMost && !last) return text + fmt::format(" and {} more", ceilings.size() - kMost);
    text += (i == 0 ? "" : last ? " and " : ", ") + clean_line(ceiling_label(*ceilings[i]));
  }
  return text;
}

/// The failed check that makes a ceiling suspect; empty where only checks of noise failed.
std::string cause_of(const Ceiling& ceiling) {
  std::string cause;
  bool unrest = false;
  for (const Check& check : ceiling.audit.checks) {
    if (check.status != CheckStatus::fail || (check.name == kHistoryCheck && !ceiling.past_best)) continue;
    if (is_noise_check(check)) {
      unrest = true;
    } else if (cause.empty()) {
      cause = check.name;
    }
  }
  // Background load breaks the doubling check, too.
  return unrest && cause == kDoublingCheck ? std::string() : cause;
}

std::string remedy(const Machine& machine, const Ceilings& restless) {
  const bool burst = std::any_of(restless.begin(), restless.end(),
                                 [](const Ceiling* ceiling) { return ceiling->regime == Regime::burst; });
  std::string text = "Calibrate on an idle machine";
  if (machine.device.kind == DeviceKind::cpu && burst) {
    text += fmt::format(", or for longer: --time {}", number(2 * machine.time_s.value_or(kUsualTime_s), 3));
  } else if (!burst) {
    text += ", or sustain the load for longer: --sustain 10";
  }
  return text + ".";
}

double share_of_before(const Ceiling& ceiling) { return ceiling.value / ceiling.past_best->value; }

/// The one furthest below its earlier value; the list must not be empty.
const Ceiling& least_of_before(const Ceilings& slower) {
  return **std::min_element(slower.begin(), slower.end(), [](const Ceiling* a, const Ceiling* b) {
    return share_of_before(*a) < share_of_before(*b);
  });
}

/// "dram.read and dram.copy reached down to 53 % of the calibration of 2026-11-23T19:46:50Z: …"
std::string slower_than_before(const Ceilings& slower) {
  const Ceiling& least = least_of_before(slower);
  return fmt::format(
      "{} reached {}{} of the calibration of {}: background load throughout, or a slower machine. Calibrate again.",
      names_of(slower), slower.size() == 1 ? "" : "down to ", percent(share_of_before(least)),
      clean_line(least.past_best->measured_at));
}

/// One finding for each cause. The measured slowdown (`disturbed`) introduces the one about noise; without suspect
/// ceilings of that cause it is a finding of its own, the first.
Findings suspects(const Machine& machine, const Ceilings& ceilings, const std::string& disturbed) {
  std::map<std::string, Ceilings> by_cause;
  for (const Ceiling* ceiling : ceilings) {
    if (ceiling->suspect()) by_cause[cause_of(*ceiling)].push_back(ceiling);
  }
  const std::string was_disturbed = disturbed.empty() ? "" : "Background slowdown during calibration: " + disturbed;
  Findings found;
  if (!disturbed.empty() && !by_cause.contains("")) {
    found.push_back({FindingKind::background_slowdown, was_disturbed + "."});
  }
  for (const auto& [cause, of_it] : by_cause) {
    const char* are = of_it.size() == 1 ? "is" : "are";
    if (cause == kHistoryCheck) {
      found.push_back({FindingKind::slower_than_earlier, slower_than_before(of_it)});
    } else if (cause.empty()) {
      const std::string why = disturbed.empty() ? " (too much noise)" : "";
      const std::string before = disturbed.empty() ? "" : was_disturbed + ". ";
      found.push_back({FindingKind::noisy_ceilings, fmt::format("{}{} {} suspect{}. {}", before, names_of(of_it), are,
                                                                why, remedy(machine, of_it))});
    } else {
      found.push_back({FindingKind::failed_check,
                       fmt::format("{} {} suspect: the check \"{}\" failed (figures: `roofline machine --verbose`).",
                                   names_of(of_it), are, clean_line(cause))});
    }
  }
  return found;
}

/// "12 roofs typically at 61 %, lowest dram.write at 42 %"; empty where there was none.
std::string contention(const Ceilings& ceilings) {
  std::vector<double> shares;
  const Ceiling* least = nullptr;
  const auto share_of = [](const Ceiling& ceiling) {
    return ceiling.median_rate.value_or(ceiling.value) / ceiling.value;
  };
  for (const Ceiling* ceiling : ceilings) {
    if (!(share_of(*ceiling) < kDisturbed)) continue;
    shares.push_back(share_of(*ceiling));
    if (least == nullptr || share_of(*ceiling) < share_of(*least)) least = ceiling;
  }
  if (least == nullptr) return {};
  const std::string name = clean_line(ceiling_label(*least));
  if (shares.size() == 1) return fmt::format("{} typically at {}", name, percent(shares.front()));
  return fmt::format("{} roofs typically at {}, lowest {} at {}", shares.size(), percent(median(shares)), name,
                     percent(share_of(*least)));
}

/// Ceilings that are below an earlier calibration by their clock alone, and so pass their audit; empty where none is.
std::string slower_by_their_clock(const Ceilings& ceilings) {
  Ceilings slower;
  for (const Ceiling* ceiling : ceilings) {
    if (ceiling->suspect() || !follows_core_clock(*ceiling) || std::isnan(share_in_a_cycle_of_before(*ceiling)))
      continue;
    if (share_of_before(*ceiling) < 1 - kSameAsBefore) slower.push_back(ceiling);
  }
  if (slower.empty()) return {};
  const Ceiling& least = least_of_before(slower);
  const bool one = slower.size() == 1;
  return fmt::format(
      "{} {} {} of the calibration of {} because of the core clock: {:.2f} GHz now, {:.2f} GHz then. Rows are compared "
      "with pipes at their own clock.",
      names_of(slower), one ? "reached" : "reached down to", percent(share_of_before(least)),
      clean_line(least.past_best->measured_at), *least.clocks.core_hz * 1e-9, *least.past_best->core_hz * 1e-9);
}

Findings findings_of(const Machine& machine, const Ceilings& ceilings) {
  return suspects(machine, ceilings, contention(ceilings));
}

}  // namespace

Findings machine_findings(const Machine& machine) {
  Ceilings roofs;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.role == Role::roof) roofs.push_back(&ceiling);
  }
  Findings found = findings_of(machine, roofs);
  if (std::string slower = slower_by_their_clock(roofs); !slower.empty()) {
    found.push_back({FindingKind::lower_clock, std::move(slower)});
  }
  return found;
}

Findings machine_findings(const Report& report) {
  std::set<std::pair<std::string, Regime>> held;
  for (const Point& point : report.points) {
    if (point.status != PointStatus::ok || !point.time) continue;
    for (const ResourceTime& resource : point.bound.resources) held.emplace(resource.ceiling, resource.regime);
  }
  Ceilings ceilings;
  for (const Ceiling& ceiling : report.machine.ceilings) {
    if (held.contains({ceiling.name, ceiling.regime})) ceilings.push_back(&ceiling);
  }
  return findings_of(report.machine, ceilings);
}

std::vector<std::string> failed_checks(const Machine& machine) {
  std::vector<std::string> lines;
  for (const Ceiling& ceiling : machine.ceilings) {
    for (const Check& check : ceiling.audit.checks) {
      if (check.status != CheckStatus::fail) continue;
      const std::string detail = check.detail.empty() ? "" : ": " + check.detail;
      lines.push_back(clean_line(ceiling_label(ceiling) + ": " + check.name + detail));
    }
  }
  return lines;
}

}  // namespace roofline
