#include "user/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/nearest_name.hpp"

namespace roofline {
namespace {

/// "4", "2.5"
std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Operations of reductions in one size: they take a tenth of a second. A suite's reader evaluates each size for every
/// shape and configuration.
constexpr std::int64_t kMaxSizeSteps = std::int64_t{1} << 24;

/// Throws UsageError for a name without an index whose tensor has fewer elements than the output, or several for an
/// output of one element: `x` stands for `x[i]`, which then is not what was meant.
void require_current_element(const Formula& formula, const Expression::Name& name, std::int64_t elements,
                             std::int64_t outputs) {
  if (elements >= outputs && (outputs > 1 || elements == 1)) return;
  formula.place().after(name.at).fail(
      fmt::format("'{0}' in '{1}' is {0}[i], but '{0}' has {2} {3} and the output {4}: write {0}[0], {0}[...] "
                  "with its index, or sum({0})",
                  name.text, formula.text(), elements, elements == 1 ? "element" : "elements", outputs));
}

}  // namespace

Formula::Formula(std::string text, Place place) : text_(std::move(text)), place_(std::move(place)) {
  try {
    expression_ = Expression(text_);
  } catch (const ExpressionError& error) {
    place_.after(error.at).fail(error.what());
  }
}

std::vector<std::string> Formula::names() const {
  std::vector<std::string> result;
  for (const Expression::Name& name : expression_.names()) {
    const bool there = std::find(result.begin(), result.end(), name.text) != result.end();
    if (name.kind == Expression::NameKind::value && !there) result.push_back(name.text);
  }
  return result;
}

void Formula::require_unknown(const Expression::Name& index, const std::vector<std::string>& known) const {
  if (std::find(known.begin(), known.end(), index.text) == known.end()) return;
  place_.after(index.at).fail("'" + index.text + "' in '" + text_ +
                              "' already has a meaning: choose another name for the index");
}

void Formula::require_known(const std::vector<std::string>& values, const std::vector<std::string>& tensors) const {
  for (const Expression::Name& name : expression_.names()) {
    if (name.kind == Expression::NameKind::index) {
      require_unknown(name, values);
      require_unknown(name, tensors);
      continue;
    }
    const bool indexed = name.kind == Expression::NameKind::tensor;
    const std::vector<std::string>& known = indexed ? tensors : values;
    if (std::find(known.begin(), known.end(), name.text) != known.end()) continue;
    std::string message =
        std::string("unknown ") + (indexed ? "tensor" : "name") + " '" + name.text + "' in '" + text_ + "'";
    const std::string nearest = nearest_name(name.text, known);
    if (!nearest.empty()) {
      message += "; did you mean '" + nearest + "'?";
    } else if (!known.empty()) {
      message += "; known:";
      for (std::size_t i = 0; i < known.size(); ++i) message += (i == 0 ? " " : ", ") + known[i];
      if (indexed) message += " (outputs cannot be read: use a file or same_as)";
    }
    place_.after(name.at).fail(message);
  }
}

void Formula::fail_with(const Values& values, std::size_t at, const std::string& problem) const {
  std::string given;
  for (const std::string& name : names()) {
    const auto found = values.find(name);
    if (found != values.end()) given += (given.empty() ? " (" : ", ") + name + " = " + number_text(found->second);
  }
  place_.after(at).fail("'" + text_ + "' " + problem + (given.empty() ? "" : given + ")"));
}

double Formula::evaluate(const Values& values, Arithmetic arithmetic) const {
  Expression::Operands operands = expression_.operands(kMaxSizeSteps);
  for (std::size_t n = 0; n < expression_.names().size(); ++n) {
    const Expression::Name& name = expression_.names()[n];
    if (name.kind == Expression::NameKind::index) continue;
    const auto found = values.find(name.text);
    const bool known = name.kind == Expression::NameKind::value && found != values.end();
    if (!known) place_.after(name.at).fail("'" + name.text + "' has no value here");
    operands.values[n] = found->second;
  }
  double result = 0;
  try {
    result = expression_.evaluate(operands, arithmetic);
  } catch (const ExpressionError& error) {
    fail_with(values, error.at, error.what());
  }
  if (!std::isfinite(result)) fail_with(values, 0, "is not a finite number");
  return result;
}

std::int64_t Formula::size(const Values& values, std::int64_t minimum) const {
  const double value = evaluate(values, Arithmetic::exact);
  const auto expect = [&](bool holds, const std::string& what) {
    if (!holds) fail_with(values, 0, "must be " + what + ", but is " + number_text(value));
  };
  expect(value == std::floor(value), "a whole number");
  expect(value >= static_cast<double>(minimum), "at least " + std::to_string(minimum));
  expect(value <= static_cast<double>(kLargestSize), "at most 2^53");
  return static_cast<std::int64_t>(value);
}

double Formula::number(const Values& values) const { return evaluate(values, Arithmetic::real); }

ElementFormula::ElementFormula(const Formula& formula, const Values& constants,
                               const std::map<std::string, Tensor>& tensors, std::int64_t outputs,
                               std::int64_t max_steps)
    : formula_(formula), constants_(constants), operands_(formula.expression_.operands(max_steps)) {
  const auto& names = formula.expression_.names();
  for (std::size_t n = 0; n < names.size(); ++n) {
    const Expression::Name& name = names[n];
    if (name.kind == Expression::NameKind::index) continue;
    const auto tensor = tensors.find(name.text);
    if (tensor != tensors.end()) {
      operands_.tensors[n] = tensor->second;
      if (name.kind != Expression::NameKind::value || name.in_reduction) continue;
      require_current_element(formula, name, tensor->second.elements, outputs);
      elements_.push_back(n);
    } else if (const auto constant = constants.find(name.text); constant != constants.end()) {
      operands_.values[n] = constant->second;
      continue;
    } else if (name.text == "i" && name.kind == Expression::NameKind::value) {
      indices_.push_back(n);
    } else {
      formula.place().after(name.at).fail("'" + name.text + "' has no value here");
    }
    operands_.varies[n] = true;
  }
  try {
    formula.expression_.check_reductions(operands_);
  } catch (const ExpressionError& error) {
    formula.fail_with(constants, error.at, error.what());
  }
}

template <typename Evaluate>
auto ElementFormula::at(std::int64_t i, Evaluate evaluate) {
  for (const std::size_t n : indices_) operands_.values[n] = static_cast<double>(i);
  for (const std::size_t n : elements_) {
    operands_.values[n] = operands_.tensors[n].at(i);
    operands_.places[n] = i;
  }
  try {
    const auto result = evaluate(formula_.expression_);
    steps_ += operands_.steps;
    return result;
  } catch (const ExpressionError& error) {
    Values values = constants_;
    values["i"] = static_cast<double>(i);
    formula_.fail_with(values, error.at, error.what());
  }
}

double ElementFormula::operator()(std::int64_t i) {
  return at(i, [&](const Expression& expression) { return expression.evaluate(operands_, Arithmetic::ieee); });
}

Expression::Bounded ElementFormula::bounded(std::int64_t i, double roundoff) {
  return at(i, [&](const Expression& expression) { return expression.evaluate_bounded(operands_, roundoff); });
}

WholeResult ElementFormula::whole(std::int64_t i) {
  return at(i, [&](const Expression& expression) { return expression.evaluate_whole(operands_); });
}

}  // namespace roofline
