// Suspect ceilings by cause, provisional ones, each with an action, and how the speed varied during the calibration.
#include "report/machine_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "measure/audit.hpp"
#include "measure/statistics.hpp"
#include "model/find.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Ceilings = std::vector<const Ceiling*>;

/// A machine whose typical sample is below this share of its best varies in speed.
constexpr double kSteadySpeed = 0.97;
constexpr double kUsualTime_s = 60;
/// Fewer rounds show neither how a rate varies nor that it settles.
constexpr std::int64_t kEnoughRounds = 3;

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
  bool unsteady = false;
  for (const Check& check : ceiling.audit.checks) {
    if (check.status != CheckStatus::fail || (check.name == kHistoryCheck && !ceiling.past_best)) continue;
    if (is_noise_check(check)) {
      unsteady = true;
    } else if (cause.empty()) {
      cause = check.name;
    }
  }
  // Background load also makes the doubling check fail.
  return unsteady && cause == kDoublingCheck ? std::string() : cause;
}

bool all_sustained(const Ceilings& ceilings) {
  return std::ranges::all_of(ceilings, [](const Ceiling* ceiling) { return ceiling->regime == Regime::sustained; });
}

/// "--time 120s" or "--sustain 10s": what measures these ceilings for longer.
std::string for_longer(const Machine& machine, const Ceilings& ceilings) {
  if (all_sustained(ceilings)) return "--sustain 10s";
  return fmt::format("--time {}s", number(2 * machine.time_s.value_or(kUsualTime_s), 3));
}

/// With the measured load of others; files of earlier versions have none.
std::string under_load(const Machine& machine, const Ceilings& ceilings) {
  Contention seen;
  for (const Ceiling* ceiling : ceilings) {
    if (ceiling->contention) seen += *ceiling->contention;
  }
  const std::string load = describe(seen);
  const bool one = ceilings.size() == 1;
  const bool longer = all_sustained(ceilings) || machine.device.kind == DeviceKind::cpu;
  return fmt::format("{} {} suspect: {}. Calibrate on an idle machine{}{}.", names_of(ceilings), one ? "is" : "are",
                     load.empty() ? "too much noise" : load + " while " + (one ? "it was" : "they were") + " measured",
                     longer ? ", or for longer: " : "", longer ? for_longer(machine, ceilings) : "");
}

/// The check of a working set that is not many times the caches; null where it is, or is unknown.
const Check* partly_cached_set(const Ceiling& ceiling) {
  return find_in(ceiling.audit.checks, [](const Check& check) {
    return check.name == kWorkingSetCheck && check.status == CheckStatus::provisional;
  });
}

/// Main memory's roofs with such sets.
std::string partly_cached(const Ceilings& ceilings) {
  return fmt::format(
      "{} {} provisional: part of the data may stay in the cache (working set {}). `roofline calibrate` with "
      "`sweep.read` measures what the cache holds; more free memory allows larger sets.",
      names_of(ceilings), ceilings.size() == 1 ? "is" : "are",
      clean_line(partly_cached_set(*ceilings.front())->detail));
}

/// For ceilings that are provisional for another reason: how often they were measured, or how widely they scatter.
std::string not_yet_confirmed(const Machine& machine, const Ceilings& ceilings) {
  std::int64_t least = 0, most = 0;
  for (const Ceiling* ceiling : ceilings) {
    least = least == 0 ? ceiling->rounds : std::min(least, ceiling->rounds);
    most = std::max(most, ceiling->rounds);
  }
  const bool one = ceilings.size() == 1;
  const std::string names = names_of(ceilings) + (one ? " is" : " are");
  if (most == 0) {
    return fmt::format("{} provisional: no steady value within 1 % (figures: `roofline machine --verbose`).", names);
  }
  const std::string rounds = least == most ? count(most) : fmt::format("{} to {}", least, most);
  const std::string why = least < kEnoughRounds ? std::string("too few to confirm ") + (one ? "it" : "them")
                                                : "which do not agree within 1 % yet";
  const bool usual = machine.time_s.value_or(kUsualTime_s) < kUsualTime_s;
  return fmt::format("{} provisional: measured in {} {}, {}. `roofline calibrate{}`{} repeats {}.", names, rounds,
                     most == 1 ? "round" : "rounds", why, usual ? "" : " " + for_longer(machine, ceilings),
                     usual ? fmt::format(" ({:g} s)", kUsualTime_s) : "", one ? "it" : "them");
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
      names_of(slower), slower.size() == 1 ? "" : "as little as ", percent(share_of_before(least)),
      clean_line(least.past_best->measured_at));
}

/// One finding for each cause.
Findings suspects(const Machine& machine, const Ceilings& ceilings) {
  std::map<std::string, Ceilings> by_cause;
  for (const Ceiling* ceiling : ceilings) {
    if (ceiling->suspect()) by_cause[cause_of(*ceiling)].push_back(ceiling);
  }
  Findings found;
  for (const auto& [cause, of_it] : by_cause) {
    if (cause == kHistoryCheck) {
      found.push_back({FindingKind::slower_than_earlier, slower_than_before(of_it)});
    } else if (cause.empty()) {
      found.push_back({FindingKind::noisy_ceilings, under_load(machine, of_it)});
    } else {
      found.push_back({FindingKind::failed_check,
                       fmt::format("{} {} suspect: the check \"{}\" failed (figures: `roofline machine --verbose`).",
                                   names_of(of_it), of_it.size() == 1 ? "is" : "are", clean_line(cause))});
    }
  }
  return found;
}

/// "12 roofs were typically at 61 % of their best, lowest dram.write at 42 %": of those with enough rounds to tell;
/// empty where there was none.
std::string varying_speed(const Ceilings& ceilings) {
  std::vector<double> shares;
  const Ceiling* least = nullptr;
  const auto share_of = [](const Ceiling& ceiling) {
    return ceiling.median_rate.value_or(ceiling.value) / ceiling.value;
  };
  for (const Ceiling* ceiling : ceilings) {
    if (ceiling->rounds < kEnoughRounds || !(share_of(*ceiling) < kSteadySpeed)) continue;
    shares.push_back(share_of(*ceiling));
    if (least == nullptr || share_of(*ceiling) < share_of(*least)) least = ceiling;
  }
  if (least == nullptr) return {};
  const std::string name = clean_line(ceiling_label(*least));
  if (shares.size() == 1) {
    return fmt::format("The machine's speed varied: {} typically reached {} of its best value.", name,
                       percent(shares.front()));
  }
  return fmt::format(
      "The machine's speed varied: {} roofs typically reached {} of their best values; the lowest, {}, reached {}.",
      shares.size(), percent(median(shares)), name, percent(share_of(*least)));
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
      names_of(slower), one ? "reached" : "reached as little as", percent(share_of_before(least)),
      clean_line(least.past_best->measured_at), *least.clocks.core_hz * 1e-9, *least.past_best->core_hz * 1e-9);
}

Findings findings_of(const Machine& machine, const Ceilings& ceilings) {
  Findings found;
  if (std::string varied = varying_speed(ceilings); !varied.empty()) {
    found.push_back({FindingKind::varying_speed, std::move(varied)});
  }
  std::ranges::move(suspects(machine, ceilings), std::back_inserter(found));
  // Ceilings with too small working sets, those measured in rounds, and those measured once for longer have different
  // remedies.
  Ceilings cached, in_rounds, once;
  for (const Ceiling* ceiling : ceilings) {
    if (!ceiling->provisional()) continue;
    (partly_cached_set(*ceiling) != nullptr ? cached : ceiling->rounds > 0 ? in_rounds : once).push_back(ceiling);
  }
  if (!cached.empty()) found.push_back({FindingKind::provisional_ceilings, partly_cached(cached)});
  for (const Ceilings& provisional : {in_rounds, once}) {
    if (!provisional.empty())
      found.push_back({FindingKind::provisional_ceilings, not_yet_confirmed(machine, provisional)});
  }
  return found;
}

/// "Of 27 ceilings, 24 were kept from the calibration of 2026-11-30T04:00:00Z: the later one had no time for them."
std::string kept_from_earlier(const Machine& machine) {
  std::map<std::string, std::size_t> dates;
  std::size_t kept = 0;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.measured_at.empty()) continue;
    ++dates[ceiling.measured_at];
    ++kept;
  }
  if (kept == 0) return {};
  const std::string from = dates.size() == 1
                               ? fmt::format("the calibration of {}", dates.begin()->first)
                               : fmt::format("calibrations of {} to {}", dates.begin()->first, dates.rbegin()->first);
  return clean_line(fmt::format("{} of {} ceilings {} kept from {}: the later one had no time for them.", kept,
                                machine.ceilings.size(), kept == 1 ? "was" : "were", from));
}

}  // namespace

Findings machine_findings(const Machine& machine) {
  Ceilings roofs;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.role == Role::roof) roofs.push_back(&ceiling);
  }
  Findings found = findings_of(machine, roofs);
  if (std::string kept = kept_from_earlier(machine); !kept.empty()) {
    found.push_back({FindingKind::earlier_ceilings, std::move(kept)});
  }
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
