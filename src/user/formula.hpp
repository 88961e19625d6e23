// Formulas over names, as suites write them: "ceil(n / (block * 4))". muParser reads and evaluates them; what is here
// says which names there are, sees to it that sizes are exact, and where a mistake stands.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "user/place.hpp"

namespace roofline {

/// What names stand for.
using Values = std::map<std::string, double, std::less<>>;

/// The largest size: above it a double has no longer every whole number.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 53;

class Formula {
 public:
  Formula() = default;  ///< empty: to be assigned to
  /// Reads `text`, whose first character stands at `place`. Throws UsageError with file, line and column for what is no
  /// formula.
  Formula(std::string text, Place place);

  const std::string& text() const { return text_; }
  const Place& place() const { return place_; }
  bool empty() const { return text_.empty(); }

  /// The names in it, each once: those of values, and those of tensors with an index ("x[i + 1]").
  std::vector<std::string> names() const;
  std::vector<std::string> indexed() const;

  /// Throws UsageError for the first name that is not known, at its column.
  void require_known(const std::vector<std::string>& values, const std::vector<std::string>& tensors = {}) const;

  /// A whole number within [minimum, 2^53], computed exactly. Throws UsageError for a division by zero, a fraction, and
  /// for what leaves that range, also on the way.
  std::int64_t size(const Values& values, std::int64_t minimum = 0) const;

  /// Any number. Throws UsageError where it is not finite.
  double number(const Values& values) const;

 private:
  friend class ElementFormula;
  struct Name {
    std::string text;
    std::size_t at = 0;
    bool indexed = false;
  };

  std::string text_;
  std::string translated_;  ///< as muParser gets it: as long as text_, so that positions are the same
  std::vector<Name> names_;
  Place place_;
};

/// A formula that is evaluated for many elements: its names are variables that the caller changes. Of one thread.
class ElementFormula {
 public:
  /// The element of the tensor of that name at an index.
  using Element = std::function<double(double index)>;

  ElementFormula(const Formula& formula, const Values& constants, const std::map<std::string, Element>& tensors);
  ~ElementFormula();
  ElementFormula(const ElementFormula&) = delete;
  ElementFormula& operator=(const ElementFormula&) = delete;

  /// The variable of that name; null where the formula doesn't use it.
  double* variable(std::string_view name);
  /// With division by zero as IEEE has it. Throws what a tensor's element threw.
  double operator()() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace roofline
