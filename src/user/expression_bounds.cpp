// Running error analysis (Wilkinson's): each operation passes on the errors of its operands and adds its own rounding.
#include <algorithm>
#include <cmath>
#include <limits>

#include "op/tolerance.hpp"
#include "user/expression.hpp"

namespace roofline {
namespace {

/// True if arithmetic of that precision has the number itself.
bool is_representable(double value, double roundoff) {
  if (roundoff == 0 || value == 0 || !std::isfinite(value)) return true;
  int exponent = 0;
  const double scaled = std::frexp(value, &exponent) / roundoff;
  return scaled == std::rint(scaled);
}

/// Roundings that are granted for each: other orders of the same operations, and functions that are less exact than a
/// library's.
constexpr double kGranted = 4;

/// The distance to the value at another operand, if there is one.
double distance(double value, double other) { return std::isfinite(other) ? std::abs(other - value) : 0; }

/// Error of a result of that size. Subnormal numbers have the spacing of the smallest normal ones.
double granted_error(double value, double count, double roundoff) {
  const double smallest_normal = roundoff > unit_roundoff(DType::fp64) ? 0x1p-126 : 0x1p-1022;
  return kGranted * count * roundoff * std::max(std::abs(value), smallest_normal);
}

}  // namespace

/// Whole numbers that the precision has are exact: indices, counts, integers as floats.
double Expression::rounding(double value, double count, double roundoff) {
  if (value == std::floor(value) && is_representable(value, roundoff)) return 0;
  return granted_error(value, count, roundoff);
}

Expression::Bounded Expression::evaluate_bounded(Operands& operands, double roundoff) const {
  operands.steps = 0;
  ++operands.evaluations_;
  return bounded(root_, operands, roundoff);
}

Expression::Bounded Expression::bounded_alternative(Index index, Operands& operands, double roundoff) const {
  try {
    return bounded(index, operands, roundoff);
  } catch (const ExpressionError&) {
    if (operands.steps > operands.max_steps) throw;
    return {0, std::numeric_limits<double>::infinity()};
  }
}

bool Expression::is_of_indices(Index index, const Operands& operands) const {
  const Node& node = nodes_[index];
  if (node.kind == Kind::element || node.kind == Kind::reduction) return false;
  if (node.kind == Kind::value) return !operands.tensors[node.operands[0]].at;
  for (int i = 0; i < operands_of(node.kind); ++i) {
    if (!is_of_indices(node.operands[i], operands)) return false;
  }
  return true;
}

Expression::Bounded Expression::exact_of_indices(Index index, Bounded rounded, Operands& operands) const {
  if (rounded.error == 0 || !is_of_indices(index, operands)) return rounded;
  const WholeResult exact = whole(index, operands);
  return exact.status == WholeStatus::exact ? Bounded{static_cast<double>(exact.value), 0} : rounded;
}

bool Expression::is_integral(Index index, Operands& operands) const {
  const Node& node = nodes_[index];
  const auto is_integer = [&](Index name) { return !operands.tensors[name].at || operands.tensors[name].is_integer; };
  operands.integral_.resize(nodes_.size());
  if (operands.integral_[index]) return *operands.integral_[index];
  bool integral = node.kind == Kind::number                                ? node.number == std::floor(node.number)
                  : node.kind == Kind::value || node.kind == Kind::element ? is_integer(node.operands[0])
                  : node.kind == Kind::reduction ? is_integral(reductions_[node.operands[0]].body, operands)
                  : node.kind == Kind::unary     ? node.whole_unary != nullptr
                  : node.kind == Kind::binary    ? node.whole_binary != nullptr
                                                 : true;
  for (int i = 0; integral && i < operands_of(node.kind); ++i) integral = is_integral(node.operands[i], operands);
  operands.integral_[index] = integral;
  return integral;
}

void Expression::count_operation(Index index, Operands& operands) const {
  const Node& node = nodes_[index];
  const bool chooses = node.propagation == Propagation::choice;
  if (node.roundings == 0 && !chooses) return;
  operands.flops.most += chooses ? 1 : node.roundings;
  if (chooses || is_integral(index, operands)) return;
  ++operands.flops.least;
  ++operands.flops.outside;
  const bool samples = node.propagation == Propagation::sampled;  // functions and powers
  if (samples || node.propagation == Propagation::quotient) ++operands.flops.compound;
}

Expression::Bounded Expression::bounded_unary(const Node& node, Bounded a, double roundoff) {
  const double value = node.unary(a.value);
  double error = node.roundings == 0 ? 0 : rounding(value, node.roundings, roundoff);
  if (a.error > 0) {
    error += std::max(distance(value, node.unary(a.value - a.error)), distance(value, node.unary(a.value + a.error)));
  }
  return {value, error};
}

Expression::Bounded Expression::bounded_binary(const Node& node, Bounded a, Bounded b, double roundoff) {
  const auto value = static_cast<double>(node.binary(a.value, b.value));
  const double own = node.roundings == 0 ? 0 : rounding(value, node.roundings, roundoff);
  if (a.error == 0 && b.error == 0) return {value, own};
  switch (node.propagation) {
    case Propagation::sum:
      return {value, a.error + b.error + own};
    case Propagation::product:
      return {value, std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error + own};
    case Propagation::quotient:
      // A divisor that may be zero leaves nothing certain.
      return {value, (a.error + std::abs(value) * b.error) / std::max(0.0, std::abs(b.value) - b.error) + own};
    case Propagation::choice:
      return {value, std::max(a.error, b.error)};
    case Propagation::comparison:
      return {value, std::abs(a.value - b.value) <= a.error + b.error ? 1.0 : 0.0};
    case Propagation::sampled:
      break;
  }
  double spread = 0;
  for (const double left : {a.value - a.error, a.value + a.error}) {
    for (const double right : {b.value - b.error, b.value + b.error})
      spread = std::max(spread, distance(value, static_cast<double>(node.binary(left, right))));
  }
  return {value, spread + own};
}

Expression::Bounded Expression::bounded_logical(const Node& node, Operands& operands, double roundoff) const {
  const bool decided = node.kind == Kind::logical_or;
  const auto decides = [&](const Bounded& side) { return (side.value != 0) == decided; };
  const Index first = node.operands[0], second = node.operands[1];
  const Bounded left = exact_of_indices(first, bounded(first, operands, roundoff), operands);
  if (decides(left) && left.error == 0) return {decided ? 1.0 : 0.0, 0};
  const Bounded rounded =
      decides(left) ? bounded_alternative(second, operands, roundoff) : bounded(second, operands, roundoff);
  const Bounded right = exact_of_indices(second, rounded, operands);
  if (decides(right) && right.error == 0) return {decided ? 1.0 : 0.0, 0};
  const bool value = (decides(left) || decides(right)) == decided;
  return {value ? 1.0 : 0.0, std::min(1.0, left.error + right.error)};
}

void Expression::report_read(const Node& node, std::int64_t index, const Operands& operands) const {
  const Index name = node.operands[0];
  if (operands.on_read && operands.tensors[name].at) operands.on_read(names_[name].text, index);
}

void Expression::report_reads(Index index, Operands& operands) const {
  if (!operands.on_read) return;
  const Node& node = nodes_[index];
  if (node.kind == Kind::value) report_read(node, operands.places[node.operands[0]], operands);
  if (node.kind == Kind::element) {
    const double place = value_of(node.operands[1], operands, Arithmetic::ieee);
    report_read(node, static_cast<std::int64_t>(place), operands);
    report_reads(node.operands[1], operands);
  }
  // What follows a condition may not exist.
  const bool all = node.kind == Kind::unary || node.kind == Kind::binary;
  for (int i = 0; i < (all ? operands_of(node.kind) : 0); ++i) report_reads(node.operands[i], operands);
}

Expression::Bounded Expression::bounded(Index index, Operands& operands, double roundoff) const {
  const Node& node = nodes_[index];
  const auto operand = [&](int which) { return bounded(node.operands[which], operands, roundoff); };
  const auto stored = [&](double value) -> Bounded {
    return {value, is_representable(value, roundoff) ? 0 : granted_error(value, 1, roundoff)};
  };
  switch (node.kind) {
    case Kind::number:
      return stored(node.number);
    case Kind::value:
      report_read(node, operands.places[node.operands[0]], operands);
      return stored(operands.values[node.operands[0]]);
    case Kind::element: {
      const double place = value_of(node.operands[1], operands, Arithmetic::ieee);
      const double value = element(node, place, operands);
      report_read(node, static_cast<std::int64_t>(place), operands);
      report_reads(node.operands[1], operands);
      return stored(value);
    }
    case Kind::reduction:
      return reduced(node.operands[0], operands, Arithmetic::ieee, roundoff);
    case Kind::unary:
      count_operation(index, operands);
      return bounded_unary(node, operand(0), roundoff);
    case Kind::binary: {
      count_operation(index, operands);
      const Bounded result = bounded_binary(node, operand(0), operand(1), roundoff);
      return node.propagation == Propagation::comparison ? exact_of_indices(index, result, operands) : result;
    }
    case Kind::conditional: {
      const Bounded condition = exact_of_indices(node.operands[0], operand(0), operands);
      const Bounded taken = operand(condition.value != 0 ? 1 : 2);
      if (condition.error == 0) return taken;
      const Bounded other = bounded_alternative(node.operands[condition.value != 0 ? 2 : 1], operands, roundoff);
      return {taken.value, std::max(taken.error, other.error) + distance(taken.value, other.value)};
    }
    case Kind::logical_and:
    case Kind::logical_or:
      return bounded_logical(node, operands, roundoff);
  }
  return {};
}

}  // namespace roofline
