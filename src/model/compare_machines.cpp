// Ceilings are matched by name and regime.
#include "model/compare_machines.hpp"

#include <array>

#include "model/nan.hpp"
#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 7> kChanges = {"same",     "faster",    "slower",   "only before",
                                                      "only now", "not timed", "undecided"};

CeilingChange entry_of(const Ceiling& ceiling) {
  return {.name = ceiling.name,
          .kind = ceiling.kind,
          .pipe = ceiling.pipe,
          .regime = ceiling.regime,
          .role = ceiling.role,
          .before = kNaN,
          .now = kNaN,
          .ratio = kNaN,
          .ratio_ci95 = {},
          .change = Change::same};
}

CeilingChange compare(const Ceiling& before, const Ceiling& now, double threshold) {
  CeilingChange entry = entry_of(now);
  entry.before = before.value;
  entry.now = now.value;
  entry.ratio = now.value / before.value;
  entry.ratio_ci95 = quotient(now.ci95.or_exact(now.value), before.ci95.or_exact(before.value));
  if (entry.ratio < 1 - threshold && entry.ratio_ci95.high < 1) entry.change = Change::slower;
  if (entry.ratio > 1 + threshold && entry.ratio_ci95.low > 1) entry.change = Change::faster;
  return entry;
}

}  // namespace

std::string_view to_string(Change change) { return spell(kChanges, change); }

std::vector<CeilingChange> compare_machines(const Machine& before, const Machine& now, double threshold) {
  std::vector<CeilingChange> changes;
  for (const Ceiling& ceiling : now.ceilings) {
    const Ceiling* then = before.find(ceiling.name, ceiling.regime);
    CeilingChange entry = then != nullptr ? compare(*then, ceiling, threshold) : entry_of(ceiling);
    if (then == nullptr) {
      entry.now = ceiling.value;
      entry.change = Change::only_now;
    }
    changes.push_back(std::move(entry));
  }
  for (const Ceiling& ceiling : before.ceilings) {
    if (now.find(ceiling.name, ceiling.regime) != nullptr) continue;
    CeilingChange entry = entry_of(ceiling);
    entry.before = ceiling.value;
    entry.change = Change::only_before;
    changes.push_back(std::move(entry));
  }
  return changes;
}

}  // namespace roofline
