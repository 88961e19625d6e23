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

  bool has_reductions() const { return expression_.has_reductions(); }
  /// The names whose values select elements of tensors: the "cols" of "x[cols[j]]".
  std::vector<std::string> names_in_indices() const { return expression_.names_in_indices(); }

  /// The names of values in it, each once, without the indices of its reductions.
  std::vector<std::string> names() const;

  /// Throws UsageError, at its column, for the first unknown name, and for a reduction whose index has the name of a
  /// value or tensor.
  void require_known(const std::vector<std::string>& values, const std::vector<std::string>& tensors = {}) const;

  /// A whole number within [minimum, 2^53], computed exactly. Throws UsageError for a division by zero, for a fraction,
  /// and for a result or an intermediate result out of that range.
  std::int64_t size(const Values& values, std::int64_t minimum = 0) const;

  /// Any number. Throws UsageError for a division by zero and for a result that is not finite.
  double number(const Values& values) const;

 private:
  friend class ElementFormula;
  double evaluate(const Values& values, Arithmetic arithmetic) const;
  void require_unknown(const Expression::Name& index, const std::vector<std::string>& known) const;
  [[noreturn]] void fail_with(const Values& values, std::size_t at, const std::string& problem) const;

  std::string text_;
  Place place_;
  Expression expression_;
};

/// Operations of reductions in one evaluation of an ElementFormula at most: some ten seconds.
inline constexpr std::int64_t kMaxElementSteps = std::int64_t{1} << 32;

/// A formula for every element of an output: the variable `i` is the element's index, and a tensor's name without an
/// index the tensor's element at it. For one thread.
class ElementFormula {
 public:
  using Tensor = Expression::Tensor;

  /// `outputs`: elements of the output. Throws UsageError, at its column, for a name without an index whose tensor has
  /// fewer elements than the output, or several for an output of one; and for a reduction without tensors or with
  /// tensors of different sizes.
  ElementFormula(const Formula& formula, const Values& constants, const std::map<std::string, Tensor>& tensors,
                 std::int64_t outputs, std::int64_t max_steps = kMaxElementSteps);

  /// A division by zero follows IEEE 754. Throws UsageError for an element that does not exist, bounds that are not
  /// whole, a minimum, maximum or mean of an empty range, and more than `max_steps` operations; passes on errors of
  /// tensors.
  double operator()(std::int64_t i);
  /// The same, and how far from it a result may be that was computed with that roundoff.
  Expression::Bounded bounded(std::int64_t i, double roundoff);
  /// The exact value, if all that it takes are operations on whole numbers. Throws as operator() does.
  WholeResult whole(std::int64_t i);
  /// False: whole() never gives an exact value.
  bool may_be_whole() const { return formula_.expression_.may_be_whole(); }

  /// bounded() calls it with each element that it uses.
  void on_read(std::function<void(const std::string& tensor, std::int64_t index)> call) {
    operands_.on_read = std::move(call);
  }
  /// Floating-point operations that bounded() has evaluated so far; those of indices do not count.
  const Expression::Flops& flops() const { return operands_.flops; }
  /// Operations of reductions in all evaluations so far.
  std::int64_t steps() const { return steps_; }

 private:
  template <typename Evaluate>
  auto at(std::int64_t i, Evaluate evaluate);

  Formula formula_;
  Values constants_;
  Expression::Operands operands_;
  std::vector<std::size_t> indices_;   ///< names that are `i`
  std::vector<std::size_t> elements_;  ///< names that are the tensors' elements at `i`
  std::int64_t steps_ = 0;
};

}  // namespace roofline
