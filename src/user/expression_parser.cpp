// Precedence climbing over the text. It cannot exhaust the stack: it bounds its recursion, and a chain of operators is
// no deeper than the 1,000 characters of a text allow.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/parse.hpp"
#include "text/parts.hpp"
#include "user/expression.hpp"
#include "user/expression_tables.hpp"

namespace roofline {
namespace {

constexpr int kMaxDepth = 50;

/// The number that only digits stand for, from 2^53 on, where doubles have gaps; else 0.
Whole digits_beyond_a_double(std::string_view digits) {
  const auto number = parsed_number<std::uint64_t>(digits).value_or(0);
  return number >= static_cast<std::uint64_t>(kLargestSize) ? static_cast<Whole>(number) : 0;
}

}  // namespace

class ExpressionParser : private ExpressionTables {
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
  using Index = Expression::Index;
  using NameKind = Expression::NameKind;

  /// A reduction whose text is being read.
  struct Open {
    Index number = 0;
    bool over_tensors = false;
    std::optional<Index> index = {};         ///< name of its index, once its bounds are read
    std::optional<std::size_t> within = {};  ///< place in open_ of the innermost one whose names it uses
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
    throw ExpressionError(at_, std::string("unexpected '") + text_[at_] + "' in " + quoted() + std::string(hint()));
  }
  /// What is written instead of other languages' signs.
  std::string_view hint() const {
    const std::string_view rest = text_.substr(at_);
    const bool shift = at_ > 0 && (rest.front() == '>' || rest.front() == '<') && text_[at_ - 1] == rest.front();
    if (shift || starts_with_any(rest, {"&", "|", "~", "xor"})) return ": formulas have no bit operations";
    const std::string_view word = rest.substr(0, rest.find_first_of(" ("));
    if (word == "and" || word == "or") return ": write && and ||";
    if (rest.front() == '=') return ": equality is ==";
    return rest.front() == '*' ? ": a power is ^" : "";
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
                .binary = op.binary,
                .whole_binary = op.whole},
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

  /// The one that `text` begins with, or null.
  static const Operator* operator_at(std::string_view text) {
    const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                           [&](const Operator& op) { return text.starts_with(op.spelling); });
    return found != std::end(kOperators) ? found : nullptr;
  }

  /// Operators of at least that precedence, grouped from the left.
  Index operation(int precedence) {
    Index left = power();
    for (;;) {
      skip_spaces();
      const Operator* const found = operator_at(text_.substr(at_));
      if (found == nullptr || found->precedence < precedence) return left;
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
      return add({.kind = Kind::unary, .operands = {power()}, .unary = kMinus.call, .whole_unary = kMinus.whole}, at);
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
    const std::size_t begin_of_rest = static_cast<std::size_t>(end - text_.data());
    node.whole = digits_beyond_a_double(text_.substr(begin, begin_of_rest - begin));
    at_ = begin_of_rest;
    for (const auto& [suffix, factor] : {std::pair("Ki", 0x1p10), std::pair("Mi", 0x1p20), std::pair("Gi", 0x1p30)}) {
      if (!text_.substr(at_).starts_with(suffix)) continue;
      node.number *= factor;
      node.whole *= static_cast<Whole>(factor);  // at most 94 bits
      at_ += 2;
      break;
    }
    if (at_ < text_.size() && (is_in_name(text_[at_]) || text_[at_] == '.')) fail_here();
    return add(node, begin);
  }

  std::string identifier() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Index name() {
    const std::size_t begin = at_;
    const std::string name = identifier();
    const auto* const fold =
        std::find_if(std::begin(kFolds), std::end(kFolds), [&](const FoldFunction& f) { return f.name == name; });
    const bool folds = fold != std::end(kFolds);
    if (accept("(")) return folds && count_before_end(',') == 0 ? tensor_reduction(*fold, begin) : call(name, begin);
    if (!accept("[")) return value(name, begin);
    if (folds) return index_reduction(*fold, begin);
    const Index tensor = place_of(name, begin, NameKind::tensor, {});
    const Index index = conditional();
    expect(']');
    return add({.kind = Kind::element, .operands = {tensor, index}}, begin);
  }

  /// Behind a '(' or '[': how often `sign` stands before its end, not counting what is in further brackets.
  int count_before_end(char sign) const {
    int depth = 0, count = 0;
    for (std::size_t at = at_; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == sign && depth == 0) ++count;
      if (c == '(' || c == '[') ++depth;
      if ((c == ')' || c == ']') && depth-- == 0) break;
    }
    return count;
  }

  /// "sum(x*y)", behind its '('.
  Index tensor_reduction(const FoldFunction& fold, std::size_t at) {
    open(fold, at, true);
    const auto before = result_.nodes_.size();
    const Index body = conditional();
    expect(')');
    return close(body, before, at);
  }

  /// "sum[low <= j < high](body)" or "sum[j < high](body)", behind its '['. "j <= high" includes the last index.
  Index index_reduction(const FoldFunction& fold, std::size_t at) {
    const Index number = open(fold, at, false);
    skip_spaces();
    if (count_before_end('<') > 1) {
      result_.reductions_[number].low = operation(kSumPrecedence);
      if (!accept("<=")) fail_index(fold, at_);
      skip_spaces();
    }
    const std::size_t index_at = at_;
    const std::string index = index_name(fold);
    const bool inclusive = accept("<=");
    if (!inclusive && !accept("<")) fail_index(fold, at_);
    const std::size_t high_at = at_;
    Index high = operation(kSumPrecedence);
    if (inclusive) high = add(*operator_at("+"), high_at, high, add({.number = 1}, high_at));
    result_.reductions_[number].high = high;
    expect(']');
    open_.back().index = place_of(index, index_at, NameKind::index, number);
    result_.reductions_[number].names = {*open_.back().index};
    expect('(');
    const auto before = result_.nodes_.size();
    const Index body = conditional();
    expect(')');
    return close(body, before, at);
  }

  std::string index_name(const FoldFunction& fold) {
    const std::size_t begin = at_;
    if (begin == text_.size() || !starts_name(text_[begin])) fail_index(fold, begin);
    std::string name = identifier();
    const bool taken = std::any_of(open_.begin(), open_.end(), [&](const Open& one) {
      return one.index && result_.names_[*one.index].text == name;
    });
    if (taken || is_function(name)) {
      throw ExpressionError(begin, "'" + name + "' means something else in " + quoted() + ": choose another name");
    }
    return name;
  }

  [[noreturn]] void fail_index(const FoldFunction& fold, std::size_t at) const {
    const std::string name(fold.name);
    throw ExpressionError(at, "the index of a reduction is written " + name + "[j < n](...) or " + name +
                                  "[a <= j < b](...) in " + quoted());
  }

  Index open(const FoldFunction& fold, std::size_t at, bool over_tensors) {
    const auto number = static_cast<Index>(result_.reductions_.size());
    result_.reductions_.push_back({.fold = fold.fold, .function = fold.name, .at = static_cast<Index>(at)});
    open_.push_back({.number = number, .over_tensors = over_tensors});
    return number;
  }

  Index close(Index body, std::size_t nodes_before, std::size_t at) {
    const Open closed = open_.back();
    open_.pop_back();
    Expression::Reduction& reduction = result_.reductions_[closed.number];
    reduction.body = body;
    reduction.nodes = static_cast<Index>(result_.nodes_.size() - nodes_before);
    if (closed.within) reduction.within = open_[*closed.within].number;
    return add({.kind = Kind::reduction, .operands = {closed.number}}, at);
  }

  /// The index of a reduction, a name that the innermost reduction over tensors may set, or one from outside.
  Index value(const std::string& name, std::size_t at) {
    const auto owner_at = [&](auto owns) -> std::optional<std::size_t> {
      const auto found = std::find_if(open_.rbegin(), open_.rend(), owns);
      if (found == open_.rend()) return std::nullopt;
      return static_cast<std::size_t>(open_.rend() - found) - 1;
    };
    const auto index_of =
        owner_at([&](const Open& one) { return one.index && result_.names_[*one.index].text == name; });
    const auto owner = index_of ? index_of : owner_at([&](const Open& one) { return one.over_tensors; });
    const Index place =
        index_of ? *open_[*index_of].index
                 : place_of(name, at, NameKind::value, owner ? std::optional(open_[*owner].number) : std::nullopt);
    for (std::size_t i = 0; i < open_.size(); ++i) {
      Expression::Reduction& user = result_.reductions_[open_[i].number];
      if (owner && i > *owner) open_[i].within = std::max(open_[i].within.value_or(0), *owner);
      if (!index_of) add_once(user.outer_names, place);
      if (!index_of && owner && i == *owner) add_once(user.names, place);
    }
    return add({.kind = Kind::value, .operands = {place}}, at);
  }

  static void add_once(std::vector<Index>& places, Index place) {
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }

  /// `owner`: the reduction that sets its value.
  Index place_of(const std::string& name, std::size_t at, NameKind kind, std::optional<Index> owner) {
    auto& names = result_.names_;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].text == name && names[i].kind == kind && owners_[i] == owner) return static_cast<Index>(i);
    }
    names.push_back({name, at, kind, kind == NameKind::value && owner.has_value()});
    owners_.push_back(owner);
    return static_cast<Index>(names.size() - 1);
  }

  static bool is_function(std::string_view name) {
    const auto named = [&](const auto& function) { return function.name == name; };
    return std::any_of(std::begin(kUnary), std::end(kUnary), named) ||
           std::any_of(std::begin(kBinary), std::end(kBinary), named);
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
      return add({.kind = Kind::unary,
                  .roundings = function.roundings,
                  .operands = {arguments[0]},
                  .unary = function.call,
                  .whole_unary = function.whole,
                  .whole_quotient = function.quotient},
                 at);
    }
    for (const BinaryFunction& function : kBinary) {
      if (function.name != name) continue;
      expect_at_most(function.most);
      const Operator op = {
          function.name, 0, Kind::binary, function.check, function.call, function.propagation, function.roundings,
          function.whole};
      Index result = arguments[0];
      for (std::size_t i = 1; i < arguments.size(); ++i) result = add(op, at, result, arguments[i]);
      if (name != "avg") return result;
      const Index count = add({.number = static_cast<double>(arguments.size())}, at);
      return add({.kind = Kind::binary,
                  .propagation = Propagation::quotient,
                  .roundings = 1,
                  .operands = {result, count},
                  .binary = divide,
                  .whole_binary = whole_quotient},
                 at);
    }
    const bool reduces = starts_with_any(name, {"prod", "arg", "mean", "count", "any", "all", "norm"});
    throw ExpressionError(at, "unknown function '" + name + "' in " + quoted() +
                                  (reduces ? ": reductions are sum, avg, min and max" : ""));
  }

  std::string_view text_;
  Expression& result_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Open> open_;                    ///< outermost first
  std::vector<std::optional<Index>> owners_;  ///< of the names
};

Expression::Expression(std::string_view text) { ExpressionParser(text, *this).parse(); }

}  // namespace roofline
