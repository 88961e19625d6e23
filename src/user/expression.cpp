// Precedence climbing over the text, and a walk over the tree. Neither can exhaust the stack: the parser bounds its
// recursion, and a chain of operators is no deeper than the 1,000 characters of a text allow.
#include "user/expression.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace roofline {
namespace {

constexpr std::size_t kMaxLength = 1000;
constexpr int kMaxDepth = 50;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_whole(double value) { return value == std::floor(value); }
long double wide(double value) { return value; }
long double divide(double a, double b) { return a / b; }

}  // namespace

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, Expression& result) : text_(text), result_(result) {}

  void parse() {
    if (text_.size() > kMaxLength) {
      throw ExpressionError(0, "a formula has at most 1000 characters; this one has " + std::to_string(text_.size()));
    }
    result_.root_ = conditional();
    skip_spaces();
    if (at_ < text_.size()) fail_here();
  }

 private:
  using Kind = Expression::Kind;
  using Check = Expression::Check;
  using Propagation = Expression::Propagation;
  using Index = Expression::Index;

  struct Operator {
    std::string_view spelling;
    int precedence;
    Kind kind;
    Check check;
    Expression::Binary binary;
    Propagation propagation;
    std::uint8_t roundings;
  };
  static constexpr Operator kOperators[] = {
      // "<=" comes before "<", which it starts with.
      {"||", 1, Kind::logical_or, Check::none, nullptr, Propagation::sampled, 0},
      {"&&", 2, Kind::logical_and, Check::none, nullptr, Propagation::sampled, 0},
      {"<=", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a <= b; },
       Propagation::comparison, 0},
      {">=", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a >= b; },
       Propagation::comparison, 0},
      {"==", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a == b; },
       Propagation::comparison, 0},
      {"!=", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a != b; },
       Propagation::comparison, 0},
      {"<", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a < b; },
       Propagation::comparison, 0},
      {">", 3, Kind::binary, Check::none, [](double a, double b) -> long double { return a > b; },
       Propagation::comparison, 0},
      {"+", 4, Kind::binary, Check::whole, [](double a, double b) { return wide(a) + b; }, Propagation::sum, 1},
      {"-", 4, Kind::binary, Check::whole, [](double a, double b) { return wide(a) - b; }, Propagation::sum, 1},
      {"*", 5, Kind::binary, Check::whole, [](double a, double b) { return wide(a) * b; }, Propagation::product, 1},
      {"/", 5, Kind::binary, Check::divisor, divide, Propagation::quotient, 1},
      {"%", 5, Kind::binary, Check::divisor, [](double a, double b) { return wide(std::fmod(a, b)); },
       Propagation::sampled, 0},
  };
  static constexpr Operator kPower = {
      "^", 6, Kind::binary, Check::whole, [](double a, double b) { return wide(std::pow(a, b)); }, Propagation::sampled,
      4};

  struct UnaryFunction {
    std::string_view name;
    Expression::Unary call;
    std::uint8_t roundings;  ///< 4: of libraries' and GPUs' functions
  };
  static constexpr UnaryFunction kUnary[] = {
      {"ceil", std::ceil, 0},
      {"floor", std::floor, 0},
      {"round", std::round, 0},
      {"rint", std::rint, 0},
      {"abs", std::abs, 0},
      {"sqrt", std::sqrt, 1},
      {"exp", std::exp, 4},
      {"ln", std::log, 4},
      {"log", std::log, 4},
      {"log2", std::log2, 4},
      {"log10", std::log10, 4},
      {"erf", std::erf, 4},
      {"sin", std::sin, 4},
      {"cos", std::cos, 4},
      {"tan", std::tan, 4},
      {"asin", std::asin, 4},
      {"acos", std::acos, 4},
      {"atan", std::atan, 4},
      {"sinh", std::sinh, 4},
      {"cosh", std::cosh, 4},
      {"tanh", std::tanh, 4},
      {"asinh", std::asinh, 4},
      {"acosh", std::acosh, 4},
      {"atanh", std::atanh, 4},
      {"sign", [](double x) { return x < 0   ? -1.0
                                     : x > 0 ? 1.0
                                             : 0.0; }, 0},
  };
  struct BinaryFunction {
    std::string_view name;
    std::size_t most;  ///< arguments, which are combined pair by pair
    Check check;
    Expression::Binary call;
    Propagation propagation;
    std::uint8_t roundings;
  };
  static constexpr BinaryFunction kBinary[] = {
      {"min", kMaxLength, Check::none, [](double a, double b) { return wide(std::min(a, b)); }, Propagation::choice, 0},
      {"max", kMaxLength, Check::none, [](double a, double b) { return wide(std::max(a, b)); }, Propagation::choice, 0},
      {"avg", kMaxLength, Check::whole, [](double a, double b) { return wide(a) + b; }, Propagation::sum, 1},
      {"sum", kMaxLength, Check::whole, [](double a, double b) { return wide(a) + b; }, Propagation::sum, 1},
      {"atan2", 2, Check::none, [](double a, double b) { return wide(std::atan2(a, b)); }, Propagation::sampled, 4},
  };

  struct Nested {
    explicit Nested(ExpressionParser& parser) : depth(parser.depth_) {
      if (++depth > kMaxDepth) throw ExpressionError(parser.at_, "the formula is nested too deeply");
    }
    ~Nested() { --depth; }
    int& depth;
  };

  void skip_spaces() { at_ = std::min(text_.find_first_not_of(' ', at_), text_.size()); }
  bool accept(std::string_view token) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(char token) {
    if (accept({&token, 1})) return;
    if (at_ == text_.size()) throw ExpressionError(at_, std::string("a '") + token + "' is missing in " + quoted());
    fail_here();
  }
  [[noreturn]] void fail_here() const {
    if (at_ == text_.size()) throw ExpressionError(at_, "a value is missing at the end of " + quoted());
    throw ExpressionError(at_, std::string("unexpected '") + text_[at_] + "' in " + quoted());
  }
  std::string quoted() const { return "'" + std::string(text_) + "'"; }

  Index add(Expression::Node node, std::size_t at) {
    node.at = static_cast<Index>(at);
    result_.nodes_.push_back(node);
    return static_cast<Index>(result_.nodes_.size() - 1);
  }
  Index add(const Operator& op, std::size_t at, Index left, Index right) {
    return add({.kind = op.kind,
                .check = op.check,
                .propagation = op.propagation,
                .roundings = op.roundings,
                .operands = {left, right},
                .binary = op.binary},
               at);
  }

  /// condition ? value : value, grouped from the right.
  Index conditional() {
    const Nested nested(*this);
    const Index condition = operation(1);
    if (!accept("?")) return condition;
    const std::size_t at = at_ - 1;
    const Index yes = conditional();
    expect(':');
    return add({.kind = Kind::conditional, .operands = {condition, yes, conditional()}}, at);
  }

  /// Operators of at least that precedence, grouped from the left.
  Index operation(int precedence) {
    Index left = power();
    for (;;) {
      skip_spaces();
      const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators), [&](const Operator& op) {
        return text_.substr(at_).starts_with(op.spelling);
      });
      if (found == std::end(kOperators) || found->precedence < precedence) return left;
      const std::size_t at = at_;
      at_ += found->spelling.size();
      left = add(*found, at, left, operation(found->precedence + 1));
    }
  }

  /// A sign binds less than a power, on its left alone: -2^2 is -(2^2), and 2^-1 is 0.5. Powers group from the right.
  Index power() {
    const Nested nested(*this);
    if (accept("-")) {
      const std::size_t at = at_ - 1;
      return add({.kind = Kind::unary, .operands = {power()}, .unary = [](double x) { return -x; }}, at);
    }
    const Index base = primary();
    if (!accept("^")) return base;
    const std::size_t at = at_ - 1;
    return add(kPower, at, base, power());
  }

  Index primary() {
    skip_spaces();
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return number();
    if (at_ < text_.size() && starts_name(text_[at_])) return name();
    if (!accept("(")) fail_here();
    const Index inner = conditional();
    expect(')');
    return inner;
  }

  /// "4096", "1.5e-3", "32Ki"
  Index number() {
    const std::size_t begin = at_;
    Expression::Node node;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node.number);
    if (error == std::errc::invalid_argument) fail_here();
    if (error != std::errc()) throw ExpressionError(at_, "a number in " + quoted() + " is out of range");
    at_ = static_cast<std::size_t>(end - text_.data());
    for (const auto& [suffix, factor] : {std::pair("Ki", 0x1p10), std::pair("Mi", 0x1p20), std::pair("Gi", 0x1p30)}) {
      if (!text_.substr(at_).starts_with(suffix)) continue;
      node.number *= factor;
      at_ += 2;
      break;
    }
    if (at_ < text_.size() && (is_in_name(text_[at_]) || text_[at_] == '.')) fail_here();
    return add(node, begin);
  }

  Index name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (accept("(")) return call(name, begin);
    if (!accept("[")) return add({.kind = Kind::value, .operands = {place_of(name, begin, false)}}, begin);
    const Index tensor = place_of(name, begin, true);
    const Index index = conditional();
    expect(']');
    return add({.kind = Kind::element, .operands = {tensor, index}}, begin);
  }

  Index place_of(const std::string& name, std::size_t at, bool indexed) {
    auto& names = result_.names_;
    const auto found = std::find_if(names.begin(), names.end(), [&](const Expression::Name& known) {
      return known.text == name && known.indexed == indexed;
    });
    const auto place = static_cast<Index>(found - names.begin());
    if (found == names.end()) names.push_back({name, at, indexed});
    return place;
  }

  Index call(const std::string& name, std::size_t at) {
    std::vector<Index> arguments = {conditional()};
    while (accept(",")) arguments.push_back(conditional());
    expect(')');
    const auto expect_at_most = [&](std::size_t most) {
      if (arguments.size() > most) throw ExpressionError(at, name + "() has too many arguments in " + quoted());
    };
    for (const UnaryFunction& function : kUnary) {
      if (function.name != name) continue;
      expect_at_most(1);
      return add(
          {.kind = Kind::unary, .roundings = function.roundings, .operands = {arguments[0]}, .unary = function.call},
          at);
    }
    for (const BinaryFunction& function : kBinary) {
      if (function.name != name) continue;
      expect_at_most(function.most);
      const Operator op = {function.name,     0, Kind::binary, function.check, function.call, function.propagation,
                           function.roundings};
      Index result = arguments[0];
      for (std::size_t i = 1; i < arguments.size(); ++i) result = add(op, at, result, arguments[i]);
      if (name != "avg") return result;
      const Index count = add({.number = static_cast<double>(arguments.size())}, at);
      return add({.kind = Kind::binary,
                  .propagation = Propagation::quotient,
                  .roundings = 1,
                  .operands = {result, count},
                  .binary = divide},
                 at);
    }
    throw ExpressionError(at, "unknown function '" + name + "' in " + quoted());
  }

  std::string_view text_;
  Expression& result_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Expression::Expression(std::string_view text) { ExpressionParser(text, *this).parse(); }

double Expression::value_of(Index index, const Operands& operands, Arithmetic arithmetic) const {
  const Node& node = nodes_[index];
  const auto operand = [&](int which) { return value_of(node.operands[which], operands, arithmetic); };
  switch (node.kind) {
    case Kind::number:
      return node.number;
    case Kind::value:
      return operands.values[node.operands[0]];
    case Kind::element:
      return operands.elements[node.operands[0]](operand(1));
    case Kind::unary:
      return node.unary(operand(0));
    case Kind::conditional:
      return operand(operand(0) != 0 ? 1 : 2);
    case Kind::logical_and:
      return operand(0) != 0 && operand(1) != 0 ? 1 : 0;
    case Kind::logical_or:
      return operand(0) != 0 || operand(1) != 0 ? 1 : 0;
    case Kind::binary:
      break;
  }
  const double a = operand(0), b = operand(1);
  if (node.check == Check::divisor && b == 0 && arithmetic != Arithmetic::ieee) {
    throw ExpressionError(node.at, "divides by zero");
  }
  const long double result = node.binary(a, b);
  if (node.check == Check::whole && arithmetic == Arithmetic::exact && is_whole(a) && is_whole(b) &&
      !(std::abs(result) <= static_cast<long double>(kLargestSize))) {
    throw ExpressionError(node.at, "is larger than 2^53");
  }
  return static_cast<double>(result);
}

}  // namespace roofline
