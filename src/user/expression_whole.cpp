// Evaluation in whole numbers: exact where a double rounds, from 2^53 on.
#include <algorithm>
#include <cmath>

#include "user/expression.hpp"
#include "user/whole_arithmetic.hpp"

namespace roofline {
namespace {

/// The number that the double represents.
WholeResult whole_of(double value) {
  constexpr double kMost = 0x1p126;
  if (!is_whole(value) || std::isinf(value)) return kNoWhole;
  return std::abs(value) < kMost ? exactly(static_cast<Whole>(value)) : kTooLarge;
}

}  // namespace

WholeResult Expression::evaluate_whole(Operands& operands) const {
  operands.steps = 0;
  ++operands.evaluations_;
  return whole(root_, operands);
}

bool Expression::may_be_whole() const {
  const auto has_none = [](const Node& node) {
    switch (node.kind) {
      case Kind::number:
        return node.number != std::floor(node.number);
      case Kind::unary:
        return node.whole_unary == nullptr;
      case Kind::binary:
        return node.whole_binary == nullptr;
      default:
        return false;
    }
  };
  return std::none_of(nodes_.begin(), nodes_.end(), has_none);
}

WholeResult Expression::whole_element(Index name, std::int64_t index, const Operands& operands) const {
  const Tensor& tensor = operands.tensors[name];
  return tensor.whole ? exactly(tensor.whole(index)) : whole_of(tensor.at(index));
}

WholeResult Expression::whole(Index index, Operands& operands) const {
  const Node& node = nodes_[index];
  const auto operand = [&](int which) { return whole(node.operands[which], operands); };
  const auto is_exact = [](const WholeResult& result) { return result.status == WholeStatus::exact; };
  const auto both = [&](const Node& of, WholeBinary compute) {
    const WholeResult a = whole(of.operands[0], operands);
    if (!is_exact(a)) return a;
    const WholeResult b = whole(of.operands[1], operands);
    return is_exact(b) ? compute(a.value, b.value) : b;
  };
  switch (node.kind) {
    case Kind::number:
      if (node.whole != 0) return exactly(node.whole);
      return std::abs(node.number) < static_cast<double>(kLargestSize) ? whole_of(node.number) : kTooLarge;
    case Kind::value: {
      const Index name = node.operands[0];
      return operands.tensors[name].at ? whole_element(name, operands.places[name], operands)
                                       : whole_of(operands.values[name]);
    }
    case Kind::element: {
      const double place = value_of(node.operands[1], operands, Arithmetic::ieee);
      require_element(node, place, operands);
      return whole_element(node.operands[0], static_cast<std::int64_t>(place), operands);
    }
    case Kind::reduction:
      return whole_reduced(node.operands[0], operands);
    case Kind::binary:
      return node.whole_binary == nullptr ? kNoWhole : both(node, node.whole_binary);
    case Kind::unary: {
      const Node& of = nodes_[node.operands[0]];
      const bool of_quotient = of.kind == Kind::binary && of.propagation == Propagation::quotient;
      if (node.whole_quotient != nullptr && of_quotient) return both(of, node.whole_quotient);
      const WholeResult a = operand(0);
      if (!is_exact(a)) return a;
      return node.whole_unary == nullptr ? kNoWhole : node.whole_unary(a.value);
    }
    case Kind::conditional: {
      const WholeResult condition = operand(0);
      return is_exact(condition) ? operand(condition.value != 0 ? 1 : 2) : condition;
    }
    case Kind::logical_and:
    case Kind::logical_or: {
      const WholeResult left = operand(0);
      if (!is_exact(left)) return left;
      if ((left.value != 0) == (node.kind == Kind::logical_or)) return exactly(left.value != 0 ? 1 : 0);
      const WholeResult right = operand(1);
      return is_exact(right) ? exactly(right.value != 0 ? 1 : 0) : right;
    }
  }
  return kNoWhole;
}

}  // namespace roofline
