// The operators and functions of formulas: what each computes, in doubles and in whole numbers, and how its error
// follows from its operands'. Included by the parser only.
#pragma once

#include <algorithm>
#include <cmath>

#include "user/expression.hpp"
#include "user/whole_arithmetic.hpp"

namespace roofline {

struct ExpressionTables {
  using Kind = Expression::Kind;
  using Check = Expression::Check;
  using Propagation = Expression::Propagation;
  using Fold = Expression::Fold;
  static constexpr std::size_t kMaxLength = 1000;  ///< of a formula

  static constexpr long double wide(double value) { return value; }
  static constexpr long double divide(double a, double b) { return a / b; }

  struct Operator {
    std::string_view spelling;
    int precedence;
    Kind kind;
    Check check;
    Expression::Binary binary;
    Propagation propagation;
    std::uint8_t roundings;
    Expression::WholeBinary whole;  ///< null: no operation on whole numbers
  };
  static constexpr int kSumPrecedence = 4;  ///< above that of comparisons
  static constexpr Operator kOperators[] = {
      // "<=" comes before "<", which it starts with.
      {"||", 1, Kind::logical_or, Check::none, nullptr, Propagation::sampled, 0, nullptr},
      {"&&", 2, Kind::logical_and, Check::none, nullptr, Propagation::sampled, 0, nullptr},
      {"<=", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a <= b; },
       Propagation::comparison, 0, whole_less_equal},
      {">=", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a >= b; },
       Propagation::comparison, 0, whole_greater_equal},
      {"==", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a == b; },
       Propagation::comparison, 0, whole_equal},
      {"!=", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a != b; },
       Propagation::comparison, 0, whole_unequal},
      {"<", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a < b; },
       Propagation::comparison, 0, whole_less},
      {">", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a > b; },
       Propagation::comparison, 0, whole_greater},
      {"+", kSumPrecedence, Kind::binary, Check::whole, [](double a, double b) { return wide(a) + b; },
       Propagation::sum, 1, whole_sum},
      {"-", kSumPrecedence, Kind::binary, Check::whole, [](double a, double b) { return wide(a) - b; },
       Propagation::sum, 1, whole_difference},
      {"*", 5, Kind::binary, Check::whole, [](double a, double b) { return wide(a) * b; }, Propagation::product, 1,
       whole_product},
      {"/", 5, Kind::binary, Check::divisor, divide, Propagation::quotient, 1, whole_quotient},
      {"%", 5, Kind::binary, Check::divisor, [](double a, double b) { return wide(std::fmod(a, b)); },
       Propagation::sampled, 0, whole_remainder},
  };
  static constexpr Operator kPower = {"^",
                                      6,
                                      Kind::binary,
                                      Check::whole,
                                      [](double a, double b) { return wide(std::pow(a, b)); },
                                      Propagation::sampled,
                                      4,
                                      whole_power};

  struct UnaryFunction {
    std::string_view name;
    Expression::Unary call;
    std::uint8_t roundings;            ///< 4: of libraries' and GPUs' functions
    Expression::WholeUnary whole;      ///< null: no operation on whole numbers
    Expression::WholeBinary quotient;  ///< of a quotient of whole numbers
  };
  static constexpr UnaryFunction kUnary[] = {
      {"ceil", std::ceil, 0, whole_same, whole_ceil},
      {"floor", std::floor, 0, whole_same, whole_floor},
      {"round", std::round, 0, whole_same, nullptr},
      {"rint", std::rint, 0, whole_same, nullptr},
      {"abs", std::abs, 0, whole_abs, nullptr},
      {"sqrt", std::sqrt, 1, nullptr, nullptr},
      {"exp", std::exp, 4, nullptr, nullptr},
      {"ln", std::log, 4, nullptr, nullptr},
      {"log", std::log, 4, nullptr, nullptr},
      {"log2", std::log2, 4, nullptr, nullptr},
      {"log10", std::log10, 4, nullptr, nullptr},
      {"erf", std::erf, 4, nullptr, nullptr},
      {"sin", std::sin, 4, nullptr, nullptr},
      {"cos", std::cos, 4, nullptr, nullptr},
      {"tan", std::tan, 4, nullptr, nullptr},
      {"asin", std::asin, 4, nullptr, nullptr},
      {"acos", std::acos, 4, nullptr, nullptr},
      {"atan", std::atan, 4, nullptr, nullptr},
      {"sinh", std::sinh, 4, nullptr, nullptr},
      {"cosh", std::cosh, 4, nullptr, nullptr},
      {"tanh", std::tanh, 4, nullptr, nullptr},
      {"asinh", std::asinh, 4, nullptr, nullptr},
      {"acosh", std::acosh, 4, nullptr, nullptr},
      {"atanh", std::atanh, 4, nullptr, nullptr},
      {"sign", [](double x) { return x < 0   ? -1.0
                                     : x > 0 ? 1.0
                                             : 0.0; }, 0, whole_sign, nullptr},
  };
  static constexpr UnaryFunction kMinus = {"-", [](double x) { return -x; }, 0, whole_minus, nullptr};
  struct BinaryFunction {
    std::string_view name;
    std::size_t most;  ///< arguments, which are combined pair by pair
    Check check;
    Expression::Binary call;
    Propagation propagation;
    std::uint8_t roundings;
    Expression::WholeBinary whole;
  };
  static constexpr BinaryFunction kBinary[] = {
      {"min", kMaxLength, Check::none, [](double a, double b) { return wide(std::min(a, b)); }, Propagation::choice, 0,
       whole_min},
      {"max", kMaxLength, Check::none, [](double a, double b) { return wide(std::max(a, b)); }, Propagation::choice, 0,
       whole_max},
      {"avg", kMaxLength, Check::whole, [](double a, double b) { return wide(a) + b; }, Propagation::sum, 1, whole_sum},
      {"sum", kMaxLength, Check::whole, [](double a, double b) { return wide(a) + b; }, Propagation::sum, 1, whole_sum},
      {"atan2", 2, Check::none, [](double a, double b) { return wide(std::atan2(a, b)); }, Propagation::sampled, 4,
       nullptr},
  };

  struct FoldFunction {
    std::string_view name;
    Fold fold;
  };
  static constexpr FoldFunction kFolds[] = {
      {"sum", Fold::sum}, {"avg", Fold::avg}, {"min", Fold::min}, {"max", Fold::max}};
};

}  // namespace roofline
