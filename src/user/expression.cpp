// Walks over the tree. They cannot exhaust the stack: a tree is no deeper than its parser allows, and reductions are
// loops.
#include "user/expression.hpp"

#include <fmt/format.h>

#include <cmath>

namespace roofline {
namespace {

constexpr auto kLargestExact = static_cast<long double>(kLargestSize);

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

}  // namespace roofline
