// Conditions are looked up and compared; texts are filled in.
#include "report/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

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

/// Which of several rows' figures a text names: "{time.lost:most}", "{loop.chain_need:least}", else their range.
enum class OfRows : std::uint8_t { range, most, least };

std::pair<std::string_view, OfRows> name_and_rows(std::string_view inside) {
  const std::size_t colon = inside.find(':');
  if (colon == std::string_view::npos) return {inside, OfRows::range};
  return {inside.substr(0, colon), inside.substr(colon + 1) == "most" ? OfRows::most : OfRows::least};
}

/// Replaces each name in braces by `text_of(name, rows)`; std::nullopt if one has no text. Parts in square brackets are
/// omitted in that case.
template <class TextOf>
std::optional<std::string> filled_by(std::string_view text, TextOf text_of) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find_first_of("{[");
    if (open == std::string_view::npos) break;
    const bool optional_part = text[open] == '[';
    const std::size_t close = text.find(optional_part ? ']' : '}', open);
    if (close == std::string_view::npos) break;
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::optional<std::string> value =
        optional_part ? filled_by(inside, text_of) : std::apply(text_of, name_and_rows(inside));
    if (!value && !optional_part) return std::nullopt;
    out += text.substr(0, open);
    out += value.value_or("");
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

std::optional<std::string> filled(std::string_view text, const Quantities& quantities) {
  return filled_by(text, [&](std::string_view name, OfRows) -> std::optional<std::string> {
    const auto found = quantities.find(name);
    return found == quantities.end() ? std::nullopt : std::optional(quantity_text(name, found->second));
  });
}

/// For a library's kernel, the action of its caller.
std::string_view next_of(const Rule& rule, const Quantities& quantities) {
  const auto library = quantities.find("library");
  const bool is_library = library != quantities.end() && library->second == 1;
  return is_library && !rule.for_library.empty() ? rule.for_library : rule.next;
}

/// Explained fraction of the time; std::nullopt if unknown. Samples are of SMs with a block: what they explain is a
/// part of the time in which SMs are active.
std::optional<double> explained_share(const Rule& rule, const Quantities& quantities) {
  constexpr std::string_view kIdle = "sm.idle.share";
  const auto found = quantities.find(rule.explains);
  if (found == quantities.end()) return std::nullopt;
  const auto idle = quantities.find(kIdle);
  const bool active_only = rule.explains != kIdle && idle != quantities.end();
  return found->second * (active_only ? 1 - idle->second : 1);
}

/// True for rules on too few loads in flight. Waits for loads, however long, do not put them before other causes.
bool is_on_loads_in_flight(std::string_view rule) { return rule == "small-grid" || rule == "narrow-loads"; }

/// Sorts those with a known share among their places, largest first. Rules on loads in flight take part only where a
/// rule after them explains more.
void sort_by_share(std::vector<Advice>& advice, std::vector<std::pair<double, std::size_t>> shares) {
  const std::vector<std::pair<double, std::size_t>> all = shares;
  std::erase_if(shares, [&](const auto& one) {
    const auto explains_more = [&one](const auto& other) {
      return other.second > one.second && other.first > one.first;
    };
    return is_on_loads_in_flight(advice[one.second].rule) && std::ranges::none_of(all, explains_more);
  });
  std::vector<std::size_t> places;
  for (const auto& [share, place] : shares) places.push_back(place);
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Advice> sorted;
  for (const auto& [share, place] : shares) sorted.push_back(std::move(advice[place]));
  for (std::size_t i = 0; i < places.size(); ++i) advice[places[i]] = std::move(sorted[i]);
}

}  // namespace

bool fires(const Rule& rule, const Quantities& quantities) {
  const bool all = std::all_of(rule.conditions.begin(), rule.conditions.end(),
                               [&](const Condition& condition) { return holds(condition, quantities); });
  return all && filled(rule.finding, quantities) && filled(rule.next, quantities);
}

std::vector<Advice> diagnose(const Quantities& quantities, DeviceKind device) {
  std::vector<Advice> advice;
  std::vector<std::pair<double, std::size_t>> shares;
  bool caused = false;
  for (const Rule& rule : rules()) {
    if (!rule.is_for(device) || (rule.is_fallback() && caused) || !fires(rule, quantities)) continue;
    caused = caused || rule.kind == RuleKind::cause || rule.kind == RuleKind::no_action || rule.is_fallback();
    if (const auto share = explained_share(rule, quantities)) shares.emplace_back(*share, advice.size());
    Advice one{.rule = std::string(rule.id),
               .kind = rule.kind,
               .finding = filled(rule.finding, quantities).value_or(""),
               .next = filled(next_of(rule, quantities), quantities).value_or(""),
               .source = std::string(rule.source),
               .evidence = {},
               .saved_share = saved_share(rule.id, quantities),
               .most_saved = most_saved(rule.id, quantities)};
    for (const Condition& condition : rule.conditions) {
      const QuantitySpec* spec = find_quantity(condition.quantity);
      if (spec != nullptr && spec->unit == QuantityUnit::flag) continue;
      one.evidence.emplace_back(condition.quantity,
                                quantity_text(condition.quantity, quantities.find(condition.quantity)->second));
    }
    advice.push_back(std::move(one));
    if (rule.is_last()) break;
  }
  sort_by_share(advice, std::move(shares));
  return advice;
}

const Rule* find_rule(std::string_view id, DeviceKind device) {
  for (const Rule& rule : rules())
    if (rule.id == id && rule.is_for(device)) return &rule;
  return nullptr;
}

namespace {

/// What limits the saving of a rule.
struct Saved {
  std::string_view rule, quantity;
};

std::optional<double> share_of(std::span<const Saved> list, std::string_view rule, const Quantities& quantities) {
  const auto found = std::ranges::find(list, rule, &Saved::rule);
  const auto known = found == list.end() ? quantities.end() : quantities.find(found->quantity);
  return known == quantities.end() ? std::nullopt : std::optional(std::clamp(known->second, 0.0, 1.0));
}

}  // namespace

double saved_share(std::string_view rule, const Quantities& quantities) {
  static constexpr std::array kSaved = {Saved{"uncoalesced-loads", "traffic.needless"},
                                        Saved{"scattered-loads", "traffic.needless"},
                                        Saved{"uncoalesced-stores", "traffic.needless"},
                                        Saved{"scattered-stores", "traffic.needless"},
                                        Saved{"many-sector-loads", "traffic.least_needless"},
                                        Saved{"many-sector-stores", "traffic.least_needless"},
                                        Saved{"local-memory-waits", "wait.local_memory.share"},
                                        Saved{"spills", "wait.local_memory.share"},
                                        Saved{"rereads-from-l2", "l2.needless"},
                                        Saved{"double-precision", "fp64.needless"},
                                        Saved{"widened-products", "products.needless"},
                                        Saved{"fp32-products", "products.needless"}};
  return share_of(kSaved, rule, quantities).value_or(0);
}

double most_saved(std::string_view rule, const Quantities& quantities) {
  static constexpr std::array kMost = {Saved{"tail", "tail.share"},
                                       Saved{"last-wave", "tail.share"},
                                       Saved{"uneven-blocks", "blocks.uneven"},
                                       Saved{"idle-sms", "sm.idle.share"},
                                       Saved{"bank-conflict-cycles", "conflicts.share"},
                                       Saved{"tensor-gaps", "tensor.gap"},
                                       Saved{"issue-full", "issue.idle"},
                                       Saved{"arithmetic-limited", "issue.idle"},
                                       Saved{"busy-arithmetic", "issue.idle"}};
  return share_of(kMost, rule, quantities).value_or(1);
}

std::optional<std::string> filled_by_all(std::string_view text, std::span<const Quantities> rows) {
  return filled_by(text, [&](std::string_view name, OfRows which) -> std::optional<std::string> {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Quantities& row : rows) {
      const auto found = row.find(name);
      if (found == row.end()) return std::nullopt;
      low = std::min(low, found->second);
      high = std::max(high, found->second);
    }
    const QuantitySpec* spec = find_quantity(name);
    const bool named = spec != nullptr && (spec->unit == QuantityUnit::pipe || spec->unit == QuantityUnit::level);
    if (named && low != high) return std::string(spec->label);
    if (which != OfRows::range) return quantity_text(name, which == OfRows::most ? high : low);
    return quantity_range_text(name, low, high);
  });
}

}  // namespace roofline
