// Arithmetic expressions in suites: text → tree of operations → value. The caller supplies the values of names
// (formula.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/whole.hpp"
#include "user/running_fold.hpp"

namespace roofline {

/// Above it, a double no longer represents every whole number.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 53;

inline bool is_whole(double value) { return value == std::floor(value); }

/// Syntax of names in formulas and in C: a letter or '_', then also digits.
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
  /// Elements of a tensor. `at` widens one to fp64, `whole` gives an integer exactly; both receive an index that
  /// exists, and may throw.
  struct Tensor {
    std::int64_t elements = 0;
    std::function<double(std::int64_t index)> at = {};
    std::function<Whole(std::int64_t index)> whole = {};  ///< empty: elements that a double represents
    bool is_integer = false;                              ///< of an integer type
  };
  enum class NameKind : std::uint8_t {
    value,   ///< "n"; also a tensor's name without an index, which is its current element
    tensor,  ///< "x[i]"
    index    ///< of a reduction: the "j" of "sum[j < n](x[j])"
  };
  struct Name {
    std::string text;
    std::size_t at = 0;  ///< offset of its first use
    NameKind kind = NameKind::value;
    bool in_reduction = false;  ///< a reduction over all elements of the tensors in it sets this value
  };
  /// Floating-point operations of evaluations.
  struct Flops {
    std::int64_t least = 0;    ///< without arithmetic on integers and indices, min and max
    std::int64_t outside = 0;  ///< those of them outside of reductions, whose parts several outputs may share
    std::int64_t most = 0;     ///< with those, and functions and powers as four
    /// Divisions, roots, functions and powers among `least`: machine code may need several operations for one of them.
    std::int64_t compound = 0;
  };
  /// A value, and how far arithmetic of a given precision may be from it.
  struct Bounded {
    double value = 0;
    double error = 0;  ///< absolute
  };
  /// What the names stand for, and the state of evaluations that follow each other. For one thread.
  struct Operands {
    /// In the order of names(). Without `at`: no tensor.
    std::vector<Tensor> tensors = {};
    std::vector<double> values = {};
    std::vector<bool> varies = {};  ///< the value changes between evaluations; reductions without such values are kept
    std::int64_t max_steps = 0;     ///< operations of reductions in one evaluation
    std::int64_t steps = 0;         ///< of the latest evaluation
    std::vector<std::int64_t> places = {};  ///< of the tensor's element that a value is
    /// evaluate_bounded() counts here, and reports each element that it uses.
    Flops flops = {};
    std::function<void(const std::string& tensor, std::int64_t index)> on_read = {};

   private:
    friend class Expression;
    struct WholeFold {
      std::int64_t begin = 0, end = 0;
      WholeResult total = {WholeStatus::exact, 0};
    };
    /// The iterations of "sum(x == i)", or of "sum(x == i ? y : 0)", that have one value of x.
    struct Matches {
      std::int64_t count = 0;
      std::vector<std::int64_t> iterations = {};  ///< if they are needed
    };
    struct Keys {
      enum class State : std::uint8_t { none, made, impossible };
      State state = State::none;
      std::unordered_map<double, Matches> of = {};
    };
    /// State of a reduction.
    struct Kept {
      std::uint64_t iterations = 0;
      std::uint64_t made_at = 0;  ///< the iteration for which `result` was computed; 0: none
      Bounded result = {};
      std::uint64_t whole_made_at = 0;  ///< the same of `whole`
      WholeResult whole = {};
      bool examined = false;  ///< what follows is known
      bool goes_on = false;   ///< a term depends on its iteration alone, so that a fold may go on where it was
      RunningFold fold = {};
      WholeFold whole_fold = {};
      std::optional<std::uint16_t> key = {}, wanted = {};  ///< nodes: the sides of "x == i"
      bool selects = false;  ///< terms are added where they are equal; else equal ones count
      Keys keys[3] = {};     ///< of values, of bounded ones, of whole ones
    };
    std::vector<Kept> reductions_ = {};
    std::vector<std::optional<bool>> integral_ = {};  ///< by node: is_integral(), once it is known
    std::uint64_t evaluations_ = 0;
  };

  Expression() = default;  ///< the number 0
  /// Throws ExpressionError for text that is no expression, is longer than 1,000 characters or nests deeper than 50.
  explicit Expression(std::string_view text);

  /// A name has one entry per use that may have another value: as a tensor, as a value, in each reduction over tensors.
  const std::vector<Name>& names() const { return names_; }
  bool has_reductions() const { return !reductions_.empty(); }
  /// The names whose values select elements of tensors: the "cols" of "x[cols[j]]". Several times, if they do so.
  std::vector<std::string> names_in_indices() const;
  /// Operands for that many names, all 0.
  Operands operands(std::int64_t max_steps) const;
  /// Throws ExpressionError if a reduction without an index has no tensors, or tensors of different sizes.
  void check_reductions(const Operands& operands) const;
  /// Throws ExpressionError as `arithmetic` says, for an element that does not exist, for bounds that are not whole and
  /// for more than `max_steps` operations; and whatever a tensor throws.
  double evaluate(Operands& operands, Arithmetic arithmetic) const;
  /// The value that `Arithmetic::ieee` gives, and a running error bound: four times what the same operations accumulate
  /// if each is rounded with a relative error of `roundoff`, operands and constants included (0: exact arithmetic). All
  /// evaluations with the same operands have the same roundoff.
  Bounded evaluate_bounded(Operands& operands, double roundoff) const;
  /// The exact value, if all that it takes are operations on whole numbers. Throws as evaluate() does.
  WholeResult evaluate_whole(Operands& operands) const;
  /// False: evaluate_whole() never gives an exact value, whatever the operands are.
  bool may_be_whole() const;

 private:
  friend class ExpressionParser;
  friend struct ExpressionTables;

  enum class Kind : std::uint8_t {
    number,
    value,
    element,
    unary,
    binary,
    conditional,
    logical_and,
    logical_or,
    reduction
  };
  enum class Check : std::uint8_t { none, whole, divisor };
  /// How the error of a result follows from those of its operands.
  enum class Propagation : std::uint8_t { sampled, sum, product, quotient, comparison, choice };
  enum class Fold : std::uint8_t { sum, avg, min, max };
  using Index = std::uint16_t;
  using Unary = double (*)(double);
  using Binary = long double (*)(double, double);  ///< in a type that represents 2^53 + 1
  using WholeUnary = WholeResult (*)(Whole);
  using WholeBinary = WholeResult (*)(Whole, Whole);

  struct Node {
    Kind kind = Kind::number;
    Check check = Check::none;
    Propagation propagation = Propagation::sampled;
    std::uint8_t roundings = 0;  ///< of the result, in units of the roundoff
    Index at = 0;                ///< in the text
    Index operands[3] = {};      ///< nodes; first one of a value or an element: its name; of a reduction: its number
    double number = 0;
    Whole whole = 0;  ///< the number exactly, where `number` may be rounded; else 0
    Unary unary = nullptr;
    Binary binary = nullptr;
    WholeUnary whole_unary = nullptr;      ///< null: no operation on whole numbers
    WholeBinary whole_quotient = nullptr;  ///< of a unary one whose operand is a quotient of whole numbers
    WholeBinary whole_binary = nullptr;
  };

  /// "sum[low <= j < high](body)", or "sum(body)" over the elements of the tensors that the body names.
  struct Reduction {
    Fold fold = Fold::sum;
    std::string_view function = {};
    Index at = 0;
    Index body = 0;                       ///< node
    Index nodes = 1;                      ///< of the body: operations per iteration
    std::optional<Index> low = {};        ///< node; none: 0
    std::optional<Index> high = {};       ///< node; none: over tensors
    std::vector<Index> names = {};        ///< set in each iteration: the index, or the values of tensors
    std::vector<Index> outer_names = {};  ///< values from outside all reductions that it uses
    std::optional<Index> within = {};     ///< the innermost enclosing reduction whose names it uses
  };
  struct Range {
    std::int64_t begin = 0, end = 0;
  };

  /// How many of a node's operands are nodes, apart from the index of an element.
  static int operands_of(Kind kind);
  void collect_names(Index index, std::vector<std::string>& found) const;
  double value_of(Index index, Operands& operands, Arithmetic arithmetic) const;
  Bounded bounded(Index index, Operands& operands, double roundoff) const;
  /// Value of an operand that is needed only if rounding changes a condition. Its error is infinite if it has no value:
  /// "x[i + 1]" at the last element.
  Bounded bounded_alternative(Index index, Operands& operands, double roundoff) const;
  /// Value of a condition whose bound is `rounded`: without an error if it depends on whole indices and sizes only,
  /// which kernels compare as integers.
  Bounded exact_of_indices(Index index, Bounded rounded, Operands& operands) const;
  /// True without elements of tensors and reductions.
  bool is_of_indices(Index index, const Operands& operands) const;
  /// True if kernels compute it with integers: from indices, sizes, whole literals and tensors of integers.
  bool is_integral(Index index, Operands& operands) const;
  void count_operation(Index index, Operands& operands) const;
  static Bounded bounded_unary(const Node& node, Bounded a, double roundoff);
  static Bounded bounded_binary(const Node& node, Bounded a, Bounded b, double roundoff);
  Bounded bounded_logical(const Node& node, Operands& operands, double roundoff) const;
  /// The error of `count` roundings of that result, and of storing that value.
  static double rounding(double value, double count, double roundoff);
  /// Without a roundoff, the error is not computed.
  Bounded reduced(Index number, Operands& operands, Arithmetic arithmetic, std::optional<double> roundoff) const;
  Bounded reduce(const Reduction& reduction, Operands& operands, Arithmetic arithmetic,
                 std::optional<double> roundoff) const;
  /// True if `holds` is true of any node of the tree.
  template <typename Holds>
  bool any_node(Index index, const Holds& holds) const;
  /// True if iterations of reductions set this value: it is an index, or an element of a tensor that is reduced.
  bool is_of_iteration(Index name, const Operands& operands) const;
  /// True if its value may differ between evaluations, apart from iterations.
  bool changes(Index index, const Operands& operands) const;
  Operands::Kept& kept_of(const Reduction& reduction, Operands& operands) const;
  /// Finds the equality that decides whether an iteration of a sum counts.
  void find_key(const Reduction& reduction, Operands::Kept& kept, const Operands& operands) const;
  static std::optional<double> key_of(Bounded value);
  /// The iterations that have the wanted value, if all values are whole numbers without an error; else null.
  template <typename ValueOf>
  const Operands::Matches* matches(const Reduction& reduction, Operands::Kept& kept, Operands& operands,
                                   Operands::Keys& keys, const ValueOf& value_of) const;
  /// Changes whenever a value that the reduction uses may have changed.
  std::uint64_t state_of(const Reduction& reduction, const Operands& operands) const;
  /// Sets the names of iteration `i`.
  void begin_iteration(const Reduction& reduction, std::int64_t i, Operands& operands) const;
  WholeResult whole(Index index, Operands& operands) const;
  WholeResult whole_element(Index name, std::int64_t index, const Operands& operands) const;
  WholeResult whole_reduced(Index number, Operands& operands) const;
  WholeResult whole_reduce(const Reduction& reduction, Operands& operands) const;
  Range range_of(const Reduction& reduction, Operands& operands, Arithmetic arithmetic) const;
  std::int64_t elements_of(const Reduction& reduction, const Operands& operands) const;
  double element(const Node& node, double index, const Operands& operands) const;
  void require_element(const Node& node, double index, const Operands& operands) const;
  /// An extreme and an average need at least one element.
  static void require_elements(const Reduction& reduction, const Range& range);
  void report_read(const Node& node, std::int64_t index, const Operands& operands) const;
  /// The elements that an index or a bound uses for certain.
  void report_reads(Index index, Operands& operands) const;

  std::vector<Node> nodes_ = {Node{}};
  std::vector<Name> names_;
  std::vector<Reduction> reductions_;
  Index root_ = 0;
};

}  // namespace roofline
