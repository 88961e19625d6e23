// Suspect ceilings by cause, each with what to do, and how far a disturbed machine stayed below its roofs.
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

/// Less than this of the plateau, typically: the machine was disturbed.
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

/// The check that a ceiling is suspect for: one that says more than that the machine did not hold still, if there is
/// one. Empty for that.
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
  // Twice the work takes whatever the neighbours make of it.
  return unrest && cause == kDoublingCheck ? std::string() : cause;
}

std::string remedy(const Machine& machine, const Ceilings& restless) {
  const bool burst = std::any_of(restless.begin(), restless.end(),
                                 [](const Ceiling* ceiling) { return ceiling->regime == Regime::burst; });
  std::string text = "Calibrate on a quiet machine";
  if (machine.device.kind == DeviceKind::cpu && burst) {
    text += fmt::format(", or give it longer: --time {}", number(2 * machine.time_s.value_or(kUsualTime_s), 3));
  } else if (!burst) {
    text += ", or keep it under load for longer: --sustain 10";
  }
  return text + ".";
}

double share_of_before(const Ceiling& ceiling) { return ceiling.value / ceiling.past_best->value; }

/// The one that lost most; not of an empty list.
const Ceiling& least_of_before(const Ceilings& slower) {
  return **std::min_element(slower.begin(), slower.end(), [](const Ceiling* a, const Ceiling* b) {
    return share_of_before(*a) < share_of_before(*b);
  });
}

/// "dram.read and dram.copy reached as little as 0.53 of what an earlier calibration did on 2026-11-23T19:46:50Z: …"
std::string slower_than_before(const Ceilings& slower) {
  const Ceiling& least = least_of_before(slower);
  return fmt::format(
      "{} reached {}{:.2f} of what an earlier calibration did on {}: the machine was disturbed from "
      "beginning to end, or is slower now. Calibrate again.",
      names_of(slower), slower.size() == 1 ? "" : "as little as ", share_of_before(least),
      clean_line(least.past_best->measured_at));
}

/// One finding for each cause; that of unrest begins with how far the machine was `disturbed`, where it was. Where
/// nothing is suspect for unrest, that is a finding of its own, the first.
Findings suspects(const Machine& machine, const Ceilings& ceilings, const std::string& disturbed) {
  std::map<std::string, Ceilings> by_cause;
  for (const Ceiling* ceiling : ceilings) {
    if (ceiling->suspect()) by_cause[cause_of(*ceiling)].push_back(ceiling);
  }
  const std::string was_disturbed =
      disturbed.empty() ? "" : "This machine was disturbed while it was calibrated, " + disturbed;
  Findings found;
  if (!disturbed.empty() && !by_cause.contains("")) {
    found.push_back({FindingKind::background_slowdown, was_disturbed + "."});
  }
  for (const auto& [cause, of_it] : by_cause) {
    const char* are = of_it.size() == 1 ? "is" : "are";
    if (cause == kHistoryCheck) {
      found.push_back({FindingKind::slower_than_earlier, slower_than_before(of_it)});
    } else if (cause.empty()) {
      const std::string why = disturbed.empty() ? ", for the machine did not hold still" : "";
      const std::string before = disturbed.empty() ? "" : was_disturbed + ": ";
      found.push_back({FindingKind::noisy_ceilings, fmt::format("{}{} {} suspect{}. {}", before, names_of(of_it), are,
                                                                why, remedy(machine, of_it))});
    } else {
      found.push_back({FindingKind::failed_check,
                       fmt::format("{} {} suspect, by the check \"{}\": `roofline machine --verbose` has the figures.",
                                   names_of(of_it), are, clean_line(cause))});
    }
  }
  return found;
}

/// "typically 0.61 of 12 roofs, at the least 0.42 of dram.write"; empty where the machine was quiet.
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
  if (shares.size() == 1) return fmt::format("typically {:.2f} of {}", shares.front(), name);
  return fmt::format("typically {:.2f} of {} roofs, at the least {:.2f} of {}", median(shares), shares.size(),
                     share_of(*least), name);
}

/// "fp32 and fp64 are as little as 0.95 of what they were on 2026-11-23T19:46:50Z, by the core clock: …": what passes
/// its audit for its clock's sake; empty where there is nothing.
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
      "{} {}{:.2f} of what {} on {}, by the core clock: {:.2f} GHz now and {:.2f} then. Points are held against pipes "
      "at their own clock.",
      names_of(slower), one ? "is " : "are as little as ", share_of_before(least), one ? "it was" : "they were",
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
