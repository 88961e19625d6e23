// What holds a kernel back and what to try next: the rules, applied to one point.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/diagnosis/quantities.hpp"
#include "report/diagnosis/rules.hpp"

namespace roofline {

/// A rule that fired, with its texts filled in.
struct Advice {
  std::string rule;  ///< its id
  RuleKind kind = RuleKind::cause;
  std::string finding;  ///< with the figures in it
  std::string next;
  std::string source;
  std::vector<std::pair<std::string, std::string>> evidence;  ///< quantity and value, of each condition
  std::string line = {};   ///< "kernel.cu:41", by samples of instructions; empty: not known
  double saved_share = 0;  ///< as saved_share() has it
};

/// Whether all conditions of a rule hold, and every quantity in its texts is known.
bool fires(const Rule& rule, const Quantities& quantities);

/// Every rule for such a device that fires on these quantities, in the order of the table; those that explain a known
/// share of the time of its warps are sorted by that, the largest first.
std::vector<Advice> diagnose(const Quantities& quantities, DeviceKind device);

/// The rule of that id for such a device; null where there is none.
const Rule* find_rule(std::string_view id, DeviceKind device);

/// Of the row's time, what it takes less without a rule's cause, where that is in the bytes and operations of its roof
/// themselves; 0 where it is not, or not known.
double saved_share(std::string_view rule, const Quantities& quantities);

/// A text of a rule with the figures of several rows: ranges where they differ. Nothing where one row lacks a figure.
std::optional<std::string> filled_by_all(std::string_view text, std::span<const Quantities> rows);

}  // namespace roofline
