// What limits a kernel and what to try next: the rules, applied to one point.
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
  std::string finding;  ///< including figures
  std::string next;
  std::string source;
  std::vector<std::pair<std::string, std::string>> evidence;  ///< quantity and value for each condition
  std::string line = {};   ///< "kernel.cu:41", from instruction samples; empty: unknown
  double saved_share = 0;  ///< saved_share() of the rule
  double most_saved = 1;   ///< most_saved() of the rule
};

/// True if all conditions of the rule hold and every quantity in its texts is known.
bool fires(const Rule& rule, const Quantities& quantities);

/// All rules for the device that fire, in table order. Rules that explain a known share of the warps' time are sorted
/// by that share, largest first.
std::vector<Advice> diagnose(const Quantities& quantities, DeviceKind device);

/// The rule with that id for the device; null if there is none.
const Rule* find_rule(std::string_view id, DeviceKind device);

/// Fraction of the row's time saved without the rule's cause, if the cause is in the bytes and operations of its roof;
/// 0 otherwise or if unknown.
double saved_share(std::string_view rule, const Quantities& quantities);

/// Largest fraction of the row's time that the rule's cause can take, where that is known: idle time of SMs; else 1.
double most_saved(std::string_view rule, const Quantities& quantities);

/// A text of a rule with the figures of several rows, as ranges where they differ. std::nullopt if a row lacks a
/// figure.
std::optional<std::string> filled_by_all(std::string_view text, std::span<const Quantities> rows);

}  // namespace roofline
