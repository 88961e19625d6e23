// Formulas over names, as suites write them: "ceil(n / (block * 4))". An expression with its place in a file, so that
// every error names file, line and column; and the rule that sizes are exact whole numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "user/expression.hpp"
#include "user/place.hpp"

namespace roofline {

/// Values of names.
using Values = std::map<std::string, double, std::less<>>;

class Formula {
 public:
  Formula() = default;  ///< empty: to be assigned to
  /// Parses `text`, whose first character is at `place`. Throws UsageError with file, line and column.
  Formula(std::string text, Place place);

  const std::string& text() const { return text_; }
  const Place& place() const { return place_; }
  bool empty() const { return text_.empty(); }

  /// The names of values in it, each once.
  std::vector<std::string> names() const;

  /// Throws UsageError for the first name that is not known, at its column.
  void require_known(const std::vector<std::string>& values, const std::vector<std::string>& tensors = {}) const;

  /// A whole number within [minimum, 2^53], computed exactly. Throws UsageError for a division by zero, for a fraction,
  /// and for a result or an intermediate result out of that range.
  std::int64_t size(const Values& values, std::int64_t minimum = 0) const;

  /// Any number. Throws UsageError for a division by zero and for a result that is not finite.
  double number(const Values& values) const;

 private:
  friend class ElementFormula;
  double evaluate(const Values& values, Arithmetic arithmetic) const;
  [[noreturn]] void fail_with(const Values& values, std::size_t at, const std::string& problem) const;

  std::string text_;
  Place place_;
  Expression expression_;
};

/// A formula that is evaluated for many elements: the caller changes its variables in between. For one thread.
class ElementFormula {
 public:
  using Element = Expression::Element;

  ElementFormula(const Formula& formula, const Values& constants, const std::map<std::string, Element>& tensors);
  ElementFormula(const ElementFormula&) = delete;
  ElementFormula& operator=(const ElementFormula&) = delete;

  /// The variable of that name; null where the formula doesn't use it.
  double* variable(std::string_view name);
  /// A division by zero gives what IEEE 754 says. Throws what a tensor's element threw.
  double operator()() const { return expression_.evaluate(operands_, Arithmetic::ieee); }
  /// The same, and how far from it a result may be that was computed with that roundoff.
  Expression::Bounded bounded(double roundoff) const { return expression_.evaluate_bounded(operands_, roundoff); }

 private:
  Expression expression_;
  Expression::Operands operands_;
};

}  // namespace roofline
