// Arithmetic expressions in suites: text → tree of operations → value. The caller supplies the values of names
// (formula.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// Above it, a double no longer represents every whole number.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 53;

/// Of names in formulas and in C: a letter or '_', and then also digits.
inline bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_in_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }

/// A mistake in an expression, or one that its values cause.
struct ExpressionError : std::runtime_error {
  ExpressionError(std::size_t position, const std::string& message) : std::runtime_error(message), at(position) {}
  std::size_t at;  ///< the characters before it
};

enum class Arithmetic : std::uint8_t {
  exact,  ///< a division by zero is an error, and so is a whole result above 2^53, which a double may round
  real,   ///< a division by zero is an error
  ieee    ///< 1 / 0 is infinite
};

class Expression {
 public:
  /// The element of a tensor at an index.
  using Element = std::function<double(double index)>;
  /// A name of a value ("n"), or of a tensor that has an index ("x[i]").
  struct Name {
    std::string text;
    std::size_t at = 0;  ///< offset of its first use
    bool indexed = false;
  };
  /// Values of the names, in the order of names().
  struct Operands {
    std::vector<double> values;
    std::vector<Element> elements;
  };

  Expression() = default;  ///< the number 0
  /// Throws ExpressionError for text that is no expression, is longer than 1,000 characters or nests deeper than 50.
  explicit Expression(std::string_view text);

  const std::vector<Name>& names() const { return names_; }
  /// A value, and how far arithmetic of a given precision may be from it.
  struct Bounded {
    double value = 0;
    double error = 0;  ///< absolute
  };

  /// Throws ExpressionError as `arithmetic` says, and whatever an element throws.
  double evaluate(const Operands& operands, Arithmetic arithmetic) const {
    return value_of(root_, operands, arithmetic);
  }
  /// The value that `Arithmetic::ieee` gives, and a running error bound: four times what the same operations accumulate
  /// if each is rounded with a relative error of `roundoff`, operands and constants included (0: exact arithmetic).
  Bounded evaluate_bounded(const Operands& operands, double roundoff) const {
    return bounded(root_, operands, roundoff);
  }

 private:
  friend class ExpressionParser;

  enum class Kind : std::uint8_t { number, value, element, unary, binary, conditional, logical_and, logical_or };
  enum class Check : std::uint8_t { none, whole, divisor };
  /// How the error of a result follows from those of its operands.
  enum class Propagation : std::uint8_t { sampled, sum, product, quotient, comparison, choice };
  using Index = std::uint16_t;
  using Unary = double (*)(double);
  using Binary = long double (*)(double, double);  ///< in a type that represents 2^53 + 1

  struct Node {
    Kind kind = Kind::number;
    Check check = Check::none;
    Propagation propagation = Propagation::sampled;
    std::uint8_t roundings = 0;  ///< of the result, in units of the roundoff
    Index at = 0;                ///< in the text
    Index operands[3] = {};      ///< nodes; the first one of a value or an element is its name
    double number = 0;
    Unary unary = nullptr;
    Binary binary = nullptr;
  };

  double value_of(Index index, const Operands& operands, Arithmetic arithmetic) const;
  Bounded bounded(Index index, const Operands& operands, double roundoff) const;
  Bounded bounded_unary(const Node& node, Bounded a, double roundoff) const;
  Bounded bounded_binary(const Node& node, Bounded a, Bounded b, double roundoff) const;

  std::vector<Node> nodes_ = {Node{}};
  std::vector<Name> names_;
  Index root_ = 0;
};

}  // namespace roofline
