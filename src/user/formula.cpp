#include "user/formula.hpp"

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
    if (!name.indexed) result.push_back(name.text);
  }
  return result;
}

void Formula::require_known(const std::vector<std::string>& values, const std::vector<std::string>& tensors) const {
  for (const Expression::Name& name : expression_.names()) {
    const std::vector<std::string>& known = name.indexed ? tensors : values;
    if (std::find(known.begin(), known.end(), name.text) != known.end()) continue;
    std::string message =
        std::string("unknown ") + (name.indexed ? "tensor" : "name") + " '" + name.text + "' in '" + text_ + "'";
    const std::string nearest = nearest_name(name.text, known);
    if (!nearest.empty()) {
      message += "; did you mean '" + nearest + "'?";
    } else if (!known.empty()) {
      message += "; known:";
      for (std::size_t i = 0; i < known.size(); ++i) message += (i == 0 ? " " : ", ") + known[i];
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
  Expression::Operands operands;
  for (const Expression::Name& name : expression_.names()) {
    const auto found = values.find(name.text);
    if (name.indexed || found == values.end()) place_.after(name.at).fail("'" + name.text + "' has no value here");
    operands.values.push_back(found->second);
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
                               const std::map<std::string, Element>& tensors)
    : expression_(formula.expression_) {
  for (const Expression::Name& name : expression_.names()) {
    const auto constant = constants.find(name.text);
    operands_.values.push_back(constant == constants.end() ? 0 : constant->second);
    operands_.elements.push_back(name.indexed ? tensors.at(name.text) : Element());
  }
}

double* ElementFormula::variable(std::string_view wanted) {
  const auto& names = expression_.names();
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& name) { return !name.indexed && name.text == wanted; });
  return found == names.end() ? nullptr : &operands_.values[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace roofline
