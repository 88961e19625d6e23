// Conditions are looked up and compared; texts are filled in.
#include "report/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <optional>

namespace roofline {
namespace {

bool holds(const Condition& condition, const Quantities& quantities) {
  const auto found = quantities.find(condition.quantity);
  if (found == quantities.end()) return false;
  switch (condition.relation) {
    case Relation::below:
      return found->second < condition.threshold;
    case Relation::above:
      return found->second > condition.threshold;
    case Relation::is:
      return found->second == condition.threshold;
  }
  return false;
}

/// Names in braces replaced by their values; nothing when one of them is not known.
std::optional<std::string> filled(std::string_view text, const Quantities& quantities) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const auto found = quantities.find(name);
    if (found == quantities.end()) return std::nullopt;
    out += text.substr(0, open);
    out += quantity_text(name, found->second);
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

}  // namespace

bool fires(const Rule& rule, const Quantities& quantities) {
  const bool all = std::all_of(rule.conditions.begin(), rule.conditions.end(),
                               [&](const Condition& condition) { return holds(condition, quantities); });
  return all && filled(rule.finding, quantities) && filled(rule.next, quantities);
}

std::vector<Advice> diagnose(const Quantities& quantities, DeviceKind device) {
  std::vector<Advice> advice;
  for (const Rule& rule : rules()) {
    if (!rule.is_for(device) || !fires(rule, quantities)) continue;
    Advice one{.rule = std::string(rule.id),
               .finding = filled(rule.finding, quantities).value_or(""),
               .next = filled(rule.next, quantities).value_or(""),
               .source = std::string(rule.source),
               .evidence = {}};
    for (const Condition& condition : rule.conditions) {
      const QuantitySpec* spec = find_quantity(condition.quantity);
      if (spec != nullptr && spec->unit == QuantityUnit::flag) continue;
      one.evidence.emplace_back(condition.quantity,
                                quantity_text(condition.quantity, quantities.find(condition.quantity)->second));
    }
    advice.push_back(std::move(one));
    if (rule.last) break;
  }
  return advice;
}

}  // namespace roofline
