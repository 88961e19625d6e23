// Reductions: loops over an index or over the elements of tensors. Elements of an output are mostly evaluated in
// ascending order, and what one evaluation has found is kept for the next: a running sum goes on where it was, the
// elements of a histogram are counted once, and those of a sparse matrix are found by their row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "user/expression.hpp"
#include "user/whole_arithmetic.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostKeys = std::size_t{1} << 20;      // different values
constexpr std::int64_t kMostListed = std::int64_t{1} << 24;  // iterations

}  // namespace

void Expression::check_reductions(const Operands& operands) const {
  for (const Reduction& reduction : reductions_) {
    if (!reduction.high) elements_of(reduction, operands);
  }
}

std::uint64_t Expression::state_of(const Reduction& reduction, const Operands& operands) const {
  if (reduction.within) return operands.reductions_[*reduction.within].iterations;
  const bool varies = std::any_of(reduction.outer_names.begin(), reduction.outer_names.end(),
                                  [&](Index name) { return operands.varies[name]; });
  return varies ? operands.evaluations_ : 1;
}

void Expression::begin_iteration(const Reduction& reduction, std::int64_t i, Operands& operands) const {
  operands.steps += reduction.nodes;
  if (operands.steps > operands.max_steps) {
    throw ExpressionError(reduction.at, fmt::format("takes more than {} operations", operands.max_steps));
  }
  for (const Index name : reduction.names) {
    const Tensor& tensor = operands.tensors[name];
    if (reduction.high) operands.values[name] = static_cast<double>(i);
    if (tensor.at) operands.values[name] = tensor.at(i);
    operands.places[name] = i;
  }
}

template <typename Holds>
bool Expression::any_node(Index index, const Holds& holds) const {
  const Node& node = nodes_[index];
  if (holds(node)) return true;
  if (node.kind == Kind::element) return any_node(node.operands[1], holds);
  if (node.kind == Kind::reduction) {
    const Reduction& inner = reductions_[node.operands[0]];
    const auto in_bound = [&](const std::optional<Index>& bound) { return bound && any_node(*bound, holds); };
    return in_bound(inner.low) || in_bound(inner.high) || any_node(inner.body, holds);
  }
  for (int i = 0; i < operands_of(node.kind); ++i) {
    if (any_node(node.operands[i], holds)) return true;
  }
  return false;
}

bool Expression::is_of_iteration(Index name, const Operands& operands) const {
  return names_[name].kind == NameKind::index || (names_[name].in_reduction && operands.tensors[name].at);
}

bool Expression::changes(Index index, const Operands& operands) const {
  return any_node(index, [&](const Node& node) {
    return node.kind == Kind::value && operands.varies[node.operands[0]] &&
           !is_of_iteration(node.operands[0], operands);
  });
}

Expression::Operands::Kept& Expression::kept_of(const Reduction& reduction, Operands& operands) const {
  Operands::Kept& kept = operands.reductions_[static_cast<std::size_t>(&reduction - reductions_.data())];
  if (kept.examined) return kept;
  kept.examined = true;
  // Names of enclosing reductions change from iteration to iteration. Each read is reported, and nothing is skipped.
  if (reduction.within || operands.on_read) return kept;
  kept.goes_on = !changes(reduction.body, operands);
  const bool has_fixed_range =
      !(reduction.low && changes(*reduction.low, operands)) && !(reduction.high && changes(*reduction.high, operands));
  if (reduction.fold == Fold::sum && has_fixed_range) find_key(reduction, kept, operands);
  return kept;
}

void Expression::find_key(const Reduction& reduction, Operands::Kept& kept, const Operands& operands) const {
  const auto reduces = [](const Node& node) { return node.kind == Kind::reduction; };
  const auto is_of_this = [&](const Node& node) {
    return node.kind == Kind::value && is_of_iteration(node.operands[0], operands);
  };
  const auto is_zero = [](const Node& node) { return node.kind == Kind::number && node.number == 0; };
  const auto examine = [&](const Node& condition) {
    if (condition.whole_binary != whole_equal) return;
    for (const int side : {0, 1}) {
      const Index each = condition.operands[side], wanted = condition.operands[1 - side];
      if (any_node(each, reduces) || any_node(wanted, reduces)) return;
      if (changes(each, operands) || any_node(wanted, is_of_this)) continue;
      kept.key = each;
      kept.wanted = wanted;
    }
  };
  const Node& body = nodes_[reduction.body];
  kept.selects = body.kind == Kind::conditional && is_zero(nodes_[body.operands[2]]);
  const Node& condition = kept.selects ? nodes_[body.operands[0]] : body;
  examine(condition);
  if (!kept.selects || condition.kind != Kind::logical_and) return;
  for (int i = 0; i < 2 && !kept.key; ++i) examine(nodes_[condition.operands[i]]);
}

/// The key if the value is certainly a whole number.
std::optional<double> Expression::key_of(Bounded value) {
  const bool is_certain = value.error == 0 && is_whole(value.value) && std::abs(value.value) <= kLargestSize;
  return is_certain ? std::optional(value.value) : std::nullopt;
}

template <typename ValueOf>
const Expression::Operands::Matches* Expression::matches(const Reduction& reduction, Operands::Kept& kept,
                                                         Operands& operands, Operands::Keys& keys,
                                                         const ValueOf& value_of) const {
  using State = Operands::Keys::State;
  if (!kept.key || keys.state == State::impossible) return nullptr;
  if (keys.state == State::none) {
    keys.state = State::impossible;
    const Range range = range_of(reduction, operands, Arithmetic::ieee);
    if (kept.selects && range.end - range.begin > kMostListed) return nullptr;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      begin_iteration(reduction, i, operands);
      const std::optional<double> key = key_of(value_of(*kept.key));
      if (!key) return nullptr;
      Operands::Matches& of_key = keys.of[*key];
      ++of_key.count;
      if (kept.selects) of_key.iterations.push_back(i);
      if (keys.of.size() > kMostKeys) return nullptr;
    }
    keys.state = State::made;
  }
  const std::optional<double> wanted = key_of(value_of(*kept.wanted));
  if (!wanted) return nullptr;
  static const Operands::Matches kNone;
  const auto found = keys.of.find(*wanted);
  return found == keys.of.end() ? &kNone : &found->second;
}

/// A value that nothing has changed since it was computed is kept: the maximum in "exp(x - max(x))" is computed once.
Expression::Bounded Expression::reduced(Index number, Operands& operands, Arithmetic arithmetic,
                                        std::optional<double> roundoff) const {
  const Reduction& reduction = reductions_[number];
  const std::uint64_t now = state_of(reduction, operands);
  Operands::Kept& kept = kept_of(reduction, operands);
  if (kept.made_at != now) {
    const std::int64_t outside = operands.flops.outside;
    kept.result = reduce(reduction, operands, arithmetic, roundoff);
    kept.made_at = now;
    operands.flops.outside = outside;
  }
  return kept.result;
}

Expression::Bounded Expression::reduce(const Reduction& reduction, Operands& operands, Arithmetic arithmetic,
                                       std::optional<double> roundoff) const {
  Operands::Kept& kept = kept_of(reduction, operands);
  const auto term_of = [&](Index node) {
    return roundoff ? bounded(node, operands, *roundoff) : Bounded{value_of(node, operands, arithmetic), 0};
  };
  const Operands::Matches* const equal = matches(reduction, kept, operands, kept.keys[roundoff ? 1 : 0], term_of);
  if (equal != nullptr && !kept.selects) return {static_cast<double>(equal->count), 0};
  const Range range = range_of(reduction, operands, arithmetic);
  for (const std::optional<Index>& limit : {reduction.low, reduction.high})
    if (roundoff && limit) report_reads(*limit, operands);
  require_elements(reduction, range);
  RunningFold& fold = kept.fold;
  if (equal != nullptr || !kept.goes_on || fold.begin != range.begin || fold.end > range.end ||
      fold.has_errors != roundoff.has_value()) {
    fold = {.begin = range.begin, .end = range.begin, .has_errors = roundoff.has_value()};
  }
  const auto add = [&](std::int64_t i) {
    begin_iteration(reduction, i, operands);
    ++kept.iterations;
    const Bounded term = term_of(reduction.body);
    fold.add(term.value);
    if (roundoff) {
      const bool adds = reduction.fold == Fold::sum || reduction.fold == Fold::avg;
      ++operands.flops.most;
      operands.flops.least += adds && !is_integral(reduction.body, operands) ? 1 : 0;
      fold.error.add(term.value, term.error, rounding(static_cast<double>(fold.total), 1, *roundoff));
      fold.worst = std::max(fold.worst, term.error);
    }
    if (arithmetic == Arithmetic::exact && is_whole(term.value) && !(std::abs(fold.total) <= kLargestSize)) {
      throw ExpressionError(reduction.at, "is larger than 2^53");
    }
  };
  if (equal != nullptr) {
    for (const std::int64_t i : equal->iterations) add(i);
    fold.end = range.end;
  } else {
    for (; fold.end < range.end; ++fold.end) add(fold.end);
  }
  switch (reduction.fold) {
    case Fold::sum:
      return {static_cast<double>(fold.total), fold.error.total()};
    case Fold::avg: {
      const auto count = static_cast<double>(range.end - range.begin);
      const auto mean = static_cast<double>(fold.total / static_cast<long double>(count));
      return {mean, fold.error.total() / count + (roundoff ? rounding(mean, 1, *roundoff) : 0)};
    }
    case Fold::min:
      return {fold.smallest, fold.worst};
    case Fold::max:
      break;
  }
  return {fold.largest, fold.worst};
}

/// Kept as reduced() keeps its values.
WholeResult Expression::whole_reduced(Index number, Operands& operands) const {
  const Reduction& reduction = reductions_[number];
  const std::uint64_t now = state_of(reduction, operands);
  Operands::Kept& kept = kept_of(reduction, operands);
  if (kept.whole_made_at != now) {
    kept.whole = whole_reduce(reduction, operands);
    kept.whole_made_at = now;
  }
  return kept.whole;
}

WholeResult Expression::whole_reduce(const Reduction& reduction, Operands& operands) const {
  Operands::Kept& kept = kept_of(reduction, operands);
  const auto whole_of = [&](Index node) {
    const WholeResult exact = whole(node, operands);
    const bool is_exact = exact.status == WholeStatus::exact;
    return Bounded{static_cast<double>(exact.value), is_exact ? 0 : std::numeric_limits<double>::infinity()};
  };
  const Operands::Matches* const equal = matches(reduction, kept, operands, kept.keys[2], whole_of);
  if (equal != nullptr && !kept.selects) return exactly(static_cast<Whole>(equal->count));
  if (equal != nullptr) {
    WholeResult total = exactly(0);
    for (const std::int64_t i : equal->iterations) {
      begin_iteration(reduction, i, operands);
      ++kept.iterations;
      const WholeResult term = whole(reduction.body, operands);
      total = term.status == WholeStatus::exact ? whole_sum(total.value, term.value) : term;
      if (total.status != WholeStatus::exact) break;
    }
    return total;
  }
  const Range range = range_of(reduction, operands, Arithmetic::ieee);
  require_elements(reduction, range);
  const bool adds = reduction.fold == Fold::sum || reduction.fold == Fold::avg;
  const WholeBinary combine = adds ? whole_sum : reduction.fold == Fold::min ? whole_min : whole_max;
  Operands::WholeFold& fold = kept.whole_fold;
  if (!kept.goes_on || fold.begin != range.begin || fold.end > range.end) {
    fold = {.begin = range.begin, .end = range.begin};
  }
  for (; fold.end < range.end; ++fold.end) {
    if (fold.total.status != WholeStatus::exact) return fold.total;
    begin_iteration(reduction, fold.end, operands);
    ++kept.iterations;
    const WholeResult term = whole(reduction.body, operands);
    const bool is_first = fold.end == range.begin;
    fold.total = is_first || term.status != WholeStatus::exact ? term : combine(fold.total.value, term.value);
  }
  if (fold.total.status != WholeStatus::exact || reduction.fold != Fold::avg) return fold.total;
  return whole_quotient(fold.total.value, range.end - range.begin);
}

void Expression::require_elements(const Reduction& reduction, const Range& range) {
  if (range.begin < range.end || reduction.fold == Fold::sum) return;
  throw ExpressionError(reduction.at, fmt::format("takes the {} of no elements", reduction.function));
}

Expression::Range Expression::range_of(const Reduction& reduction, Operands& operands, Arithmetic arithmetic) const {
  if (!reduction.high) return {0, elements_of(reduction, operands)};
  const auto bound = [&](Index node) {
    const double value = value_of(node, operands, arithmetic);
    if (!is_whole(value) || std::abs(value) > static_cast<double>(kLargestSize)) {
      throw ExpressionError(nodes_[node].at, fmt::format("has a bound of {}, which is not a whole number", value));
    }
    return static_cast<std::int64_t>(value);
  };
  return {reduction.low ? bound(*reduction.low) : 0, bound(*reduction.high)};
}

std::int64_t Expression::elements_of(const Reduction& reduction, const Operands& operands) const {
  const Name* first = nullptr;
  std::int64_t elements = 0;
  for (const Index name : reduction.names) {
    const Tensor& tensor = operands.tensors[name];
    if (!tensor.at) continue;
    if (first == nullptr) {
      first = &names_[name];
      elements = tensor.elements;
    } else if (tensor.elements != elements) {
      throw ExpressionError(names_[name].at,
                            fmt::format("reduces tensors of different sizes: '{}' has {} elements, '{}' has {}",
                                        first->text, elements, names_[name].text, tensor.elements));
    }
  }
  if (first == nullptr) {
    throw ExpressionError(reduction.at,
                          fmt::format("takes the {0} of one value: write {0}(x) for all elements of a tensor x, "
                                      "{0}[j < n](x[j]) for some, or {0}(a, b) for several values",
                                      reduction.function));
  }
  return elements;
}

}  // namespace roofline
