// Walks over the tree. They cannot exhaust the stack: a tree is no deeper than its parser allows, and reductions are
// loops.
#include "user/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace roofline {
namespace {

constexpr auto kLargestExact = static_cast<long double>(kLargestSize);

bool is_whole(double value) { return value == std::floor(value); }

/// The error of a sum, term by term. Roundings are as often up as down, so that they add up like a random walk; those
/// of equal terms go the same way.
class SumError {
 public:
  void add(double term, double error, double rounding) {
    of_terms_ += error * error;
    of_sums_ += rounding * rounding;
    largest_ += rounding;
    equal_ = equal_ && (count_++ == 0 || term == first_);
    if (count_ == 1) first_ = term;
  }
  double total() const { return std::sqrt(of_terms_) + (equal_ ? largest_ : std::sqrt(of_sums_)); }

 private:
  double of_terms_ = 0, of_sums_ = 0, largest_ = 0, first_ = 0;
  std::int64_t count_ = 0;
  bool equal_ = true;
};

}  // namespace

Expression::Operands Expression::operands(std::int64_t max_steps) const {
  Operands operands;
  operands.tensors.resize(names_.size());
  operands.values.resize(names_.size());
  operands.varies.resize(names_.size());
  operands.places.resize(names_.size());
  operands.max_steps = max_steps;
  operands.reductions_.resize(reductions_.size());
  return operands;
}

std::vector<std::string> Expression::names_in_indices() const {
  std::vector<std::string> found;
  for (const Node& node : nodes_) {
    if (node.kind == Kind::element) collect_names(node.operands[1], found);
  }
  return found;
}

int Expression::operands_of(Kind kind) {
  switch (kind) {
    case Kind::unary:
      return 1;
    case Kind::binary:
    case Kind::logical_and:
    case Kind::logical_or:
      return 2;
    case Kind::conditional:
      return 3;
    case Kind::number:
    case Kind::value:
    case Kind::element:
    case Kind::reduction:
      break;
  }
  return 0;
}

void Expression::collect_names(Index index, std::vector<std::string>& found) const {
  const Node& node = nodes_[index];
  if (node.kind == Kind::value || node.kind == Kind::element) found.push_back(names_[node.operands[0]].text);
  if (node.kind == Kind::element) collect_names(node.operands[1], found);
  if (node.kind == Kind::reduction) collect_names(reductions_[node.operands[0]].body, found);
  for (int i = 0; i < operands_of(node.kind); ++i) collect_names(node.operands[i], found);
}

void Expression::check_reductions(const Operands& operands) const {
  for (const Reduction& reduction : reductions_) {
    if (!reduction.high) elements_of(reduction, operands);
  }
}

double Expression::evaluate(Operands& operands, Arithmetic arithmetic) const {
  operands.steps = 0;
  ++operands.evaluations_;
  return value_of(root_, operands, arithmetic);
}

double Expression::value_of(Index index, Operands& operands, Arithmetic arithmetic) const {
  const Node& node = nodes_[index];
  const auto operand = [&](int which) { return value_of(node.operands[which], operands, arithmetic); };
  switch (node.kind) {
    case Kind::number:
      return node.number;
    case Kind::value:
      return operands.values[node.operands[0]];
    case Kind::element:
      return element(node, operand(1), operands);
    case Kind::unary:
      return node.unary(operand(0));
    case Kind::conditional:
      return operand(operand(0) != 0 ? 1 : 2);
    case Kind::logical_and:
      return operand(0) != 0 && operand(1) != 0 ? 1 : 0;
    case Kind::logical_or:
      return operand(0) != 0 || operand(1) != 0 ? 1 : 0;
    case Kind::reduction:
      return reduced(node.operands[0], operands, arithmetic, {}).value;
    case Kind::binary:
      break;
  }
  const double a = operand(0), b = operand(1);
  if (node.check == Check::divisor && b == 0 && arithmetic != Arithmetic::ieee) {
    throw ExpressionError(node.at, "divides by zero");
  }
  const long double result = node.binary(a, b);
  if (node.check == Check::whole && arithmetic == Arithmetic::exact && is_whole(a) && is_whole(b) &&
      !(std::abs(result) <= kLargestExact)) {
    throw ExpressionError(node.at, "is larger than 2^53");
  }
  return static_cast<double>(result);
}

void Expression::require_element(const Node& node, double index, const Operands& operands) const {
  const Tensor& tensor = operands.tensors[node.operands[0]];
  if (!(index >= 0 && index < static_cast<double>(tensor.elements) && is_whole(index))) {
    throw ExpressionError(node.at, fmt::format("asks for {0}[{1}], and '{0}' has {2} elements",
                                               names_[node.operands[0]].text, index, tensor.elements));
  }
}

double Expression::element(const Node& node, double index, const Operands& operands) const {
  require_element(node, index, operands);
  return operands.tensors[node.operands[0]].at(static_cast<std::int64_t>(index));
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

/// A value that nothing has changed since it was computed is kept: the maximum in "exp(x - max(x))" is computed once.
Expression::Bounded Expression::reduced(Index number, Operands& operands, Arithmetic arithmetic,
                                        std::optional<double> roundoff) const {
  const Reduction& reduction = reductions_[number];
  Operands::Reduced& kept = operands.reductions_[number];
  const std::uint64_t now = state_of(reduction, operands);
  if (kept.made_at != now) {
    kept.result = reduce(reduction, operands, arithmetic, roundoff, kept.iterations);
    kept.made_at = now;
  }
  return kept.result;
}

Expression::Bounded Expression::reduce(const Reduction& reduction, Operands& operands, Arithmetic arithmetic,
                                       std::optional<double> roundoff, std::uint64_t& iterations) const {
  const Range range = range_of(reduction, operands, arithmetic);
  require_elements(reduction, range);
  const bool largest = reduction.fold == Fold::max;
  long double total = 0;  // 64 bits on x86: the error of a long sum stays below that of a double
  double extreme = (largest ? -1 : 1) * std::numeric_limits<double>::infinity();
  double worst = 0;  // error of a term
  SumError error;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    begin_iteration(reduction, i, operands);
    ++iterations;
    const Bounded term = roundoff ? bounded(reduction.body, operands, *roundoff)
                                  : Bounded{value_of(reduction.body, operands, arithmetic), 0};
    const double value = term.value;
    total += value;
    if (roundoff) {
      ++operands.flops;
      error.add(value, term.error, rounding(static_cast<double>(total), 1, *roundoff));
      worst = std::max(worst, term.error);
    }
    if (arithmetic == Arithmetic::exact && is_whole(value) && !(std::abs(total) <= kLargestExact)) {
      throw ExpressionError(reduction.at, "is larger than 2^53");
    }
    if (std::isnan(value) || (largest ? value > extreme : value < extreme)) extreme = value;
  }
  switch (reduction.fold) {
    case Fold::sum:
      return {static_cast<double>(total), error.total()};
    case Fold::avg: {
      const auto count = static_cast<double>(range.end - range.begin);
      const auto mean = static_cast<double>(total / static_cast<long double>(count));
      return {mean, error.total() / count + (roundoff ? rounding(mean, 1, *roundoff) : 0)};
    }
    case Fold::min:
    case Fold::max:
      break;
  }
  return {extreme, worst};
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
      throw ExpressionError(nodes_[node].at, fmt::format("has a bound of {}, which is no whole number", value));
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
