// muParser by its C interface, loaded at run time: the program stays one file that starts where there is no such
// library.
#include "user/formula.hpp"

#include <dlfcn.h>
#include <muParserDLL.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <exception>
#include <list>
#include <optional>

#include "text/nearest_name.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMaxLength = 1000;
constexpr int kMaxDepth = 50;

/// The library's functions; one for the process.
class MuParser {
 public:
  static const MuParser& get() {
    static const MuParser library;
    return library;
  }

#define ROOFLINE_MUPARSER_FUNCTION(name) decltype(&::name) name = load<decltype(&::name)>(#name)
  ROOFLINE_MUPARSER_FUNCTION(mupCreate);
  ROOFLINE_MUPARSER_FUNCTION(mupRelease);
  ROOFLINE_MUPARSER_FUNCTION(mupSetErrorHandler);
  ROOFLINE_MUPARSER_FUNCTION(mupSetExpr);
  ROOFLINE_MUPARSER_FUNCTION(mupEval);
  ROOFLINE_MUPARSER_FUNCTION(mupGetExprVarNum);
  ROOFLINE_MUPARSER_FUNCTION(mupDefineVar);
  ROOFLINE_MUPARSER_FUNCTION(mupDefineFun1);
  ROOFLINE_MUPARSER_FUNCTION(mupDefineFunUserData1);
  ROOFLINE_MUPARSER_FUNCTION(mupDefineOprt);
  ROOFLINE_MUPARSER_FUNCTION(mupDefineOprtChars);
  ROOFLINE_MUPARSER_FUNCTION(mupDefineInfixOprt);
  ROOFLINE_MUPARSER_FUNCTION(mupDefineInfixOprtChars);
  ROOFLINE_MUPARSER_FUNCTION(mupDefinePostfixOprt);
  ROOFLINE_MUPARSER_FUNCTION(mupError);
  ROOFLINE_MUPARSER_FUNCTION(mupGetErrorMsg);
  ROOFLINE_MUPARSER_FUNCTION(mupGetErrorPos);
#undef ROOFLINE_MUPARSER_FUNCTION

 private:
  template <typename Function>
  Function load(const char* name) {
    static void* const library = dlopen("libmuparser.so.2", RTLD_NOW | RTLD_LOCAL);
    void* const address = library != nullptr ? dlsym(library, name) : nullptr;
    if (address == nullptr) {
      throw UsageError("formulas need muParser 2.3, which was not found (libmuparser.so.2)",
                       "install it (Debian: apt install libmuparser2v5)");
    }
    return reinterpret_cast<Function>(address);
  }
};

// muParser computes in silence, and its own operators can't be replaced. So formulas are given to it with other
// characters for them, one for one, and those are ours: they keep the first thing that went wrong.
constexpr std::string_view kOperators = "+-*/^%";
constexpr std::string_view kTranslated = "~`@#$%";

enum class Arithmetic : std::uint8_t { exact, real };

/// What goes wrong while this thread evaluates.
struct Trouble {
  Arithmetic arithmetic = Arithmetic::real;
  std::string complaint;
  std::exception_ptr thrown;

  void say(std::string_view text) {
    if (complaint.empty()) complaint = text;
  }
};
thread_local Trouble trouble;

bool is_whole(double value) { return value == std::floor(value); }

/// `result` in a type that holds 2^53 + 1; of whole numbers, one that a double may have rounded is refused.
double exactly(double a, double b, long double result) {
  const bool exact = trouble.arithmetic == Arithmetic::exact;
  const bool too_large = !(std::abs(result) <= static_cast<long double>(kLargestSize));
  if (exact && too_large && is_whole(a) && is_whole(b)) trouble.say("it gets larger than 2^53");
  return static_cast<double>(result);
}

long double wide(double value) { return value; }

double add(double a, double b) { return exactly(a, b, wide(a) + b); }
double subtract(double a, double b) { return exactly(a, b, wide(a) - b); }
double multiply(double a, double b) { return exactly(a, b, wide(a) * b); }
double power(double a, double b) { return exactly(a, b, std::pow(a, b)); }
double negate(double a) { return -a; }
double divide(double a, double b) {
  if (b == 0) trouble.say("it divides by zero");
  return a / b;
}
double remainder_of(double a, double b) {
  if (b == 0) trouble.say("it divides by zero");
  return std::fmod(a, b);
}
template <int bits>
double binary_multiple(double a) {
  return multiply(a, static_cast<double>(std::int64_t{1} << bits));
}

/// A parser with our operators and functions, and its variables.
class Parser {
 public:
  Parser() : handle_(mu_.mupCreate(0)) {
    mu_.mupSetErrorHandler(handle_, [](muParserHandle_t) {});  // without one it writes to stdout
    mu_.mupDefineOprtChars(handle_, "~`@#$%KMGTi");
    mu_.mupDefineInfixOprtChars(handle_, "`");
    // Precedence and associativity as muParser has them.
    mu_.mupDefineOprt(handle_, "~", add, 5, 0, 1);
    mu_.mupDefineOprt(handle_, "`", subtract, 5, 0, 1);
    mu_.mupDefineOprt(handle_, "@", multiply, 6, 0, 1);
    mu_.mupDefineOprt(handle_, "#", divide, 6, 0, 1);
    mu_.mupDefineOprt(handle_, "%", remainder_of, 6, 0, 1);
    mu_.mupDefineOprt(handle_, "$", power, 7, 1, 1);
    mu_.mupDefineInfixOprt(handle_, "`", negate, 1);
    mu_.mupDefinePostfixOprt(handle_, "Ki", binary_multiple<10>, 1);
    mu_.mupDefinePostfixOprt(handle_, "Mi", binary_multiple<20>, 1);
    mu_.mupDefinePostfixOprt(handle_, "Gi", binary_multiple<30>, 1);
    mu_.mupDefineFun1(
        handle_, "ceil", [](double a) { return std::ceil(a); }, 1);
    mu_.mupDefineFun1(
        handle_, "floor", [](double a) { return std::floor(a); }, 1);
    mu_.mupDefineFun1(
        handle_, "round", [](double a) { return std::round(a); }, 1);
    mu_.mupDefineFun1(
        handle_, "erf", [](double a) { return std::erf(a); }, 1);
  }
  ~Parser() { mu_.mupRelease(handle_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  void define(const std::string& name, double* variable) { mu_.mupDefineVar(handle_, name.c_str(), variable); }
  void define(const std::string& name, ElementFormula::Element& element) {
    mu_.mupDefineFunUserData1(handle_, name.c_str(), &Parser::element_at, &element, 0);
  }
  void set(const std::string& translated) { mu_.mupSetExpr(handle_, translated.c_str()); }
  /// Reads the formula without evaluating it.
  void parse() { static_cast<void>(mu_.mupGetExprVarNum(handle_)); }
  double evaluate() const { return mu_.mupEval(handle_); }

  bool failed() const { return mu_.mupError(handle_) != 0; }
  std::size_t position() const { return static_cast<std::size_t>(std::max(0, mu_.mupGetErrorPos(handle_))); }
  /// In the formula's own characters.
  std::string message() const {
    std::string text = mu_.mupGetErrorMsg(handle_);
    for (char& c : text) {
      const std::size_t op = kTranslated.find(c);
      if (op != std::string_view::npos) c = kOperators[op];
    }
    return text;
  }

 private:
  /// No exception may pass through the library.
  static double element_at(void* element, double index) {
    try {
      return (*static_cast<ElementFormula::Element*>(element))(index);
    } catch (...) {
      if (!trouble.thrown) trouble.thrown = std::current_exception();
      return std::nan("");
    }
  }

  const MuParser& mu_ = MuParser::get();
  muParserHandle_t handle_;
};

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

/// The end of the number that begins at `at`: digits, a point, and an exponent with its sign.
std::size_t end_of_number(const std::string& text, std::size_t at) {
  while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) ++at;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t digits = at + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    if (digits < text.size() && is_digit(text[digits])) {
      while (digits < text.size() && is_digit(text[digits])) ++digits;
      return digits;
    }
  }
  return at;
}

/// "4", "2.5"
std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

constexpr std::string_view kElementSuffix = "__at";

/// The formula's value by `arithmetic`, with what went wrong as an error at its place.
double evaluate(const Formula& formula, const std::string& translated, const Values& values, Arithmetic arithmetic) {
  Values variables = values;
  Parser parser;
  for (auto& [name, value] : variables) parser.define(name, &value);
  parser.set(translated);
  trouble = {.arithmetic = arithmetic, .complaint = {}, .thrown = {}};
  const double result = parser.evaluate();
  if (parser.failed()) formula.place().after(parser.position()).fail("'" + formula.text() + "': " + parser.message());
  std::string given;
  for (const std::string& name : formula.names()) {
    const auto found = values.find(name);
    if (found == values.end()) continue;
    given += (given.empty() ? " with " : ", ") + name + " = " + number_text(found->second);
  }
  const auto fail = [&](const std::string& what) { formula.place().fail("'" + formula.text() + "': " + what + given); };
  if (!trouble.complaint.empty()) fail(trouble.complaint);
  if (!std::isfinite(result)) fail("it is no number");
  return result;
}

}  // namespace

Formula::Formula(std::string text, Place place) : text_(std::move(text)), place_(std::move(place)) {
  if (text_.size() > kMaxLength)
    place_.fail("a formula may have 1000 characters, and this one has " + std::to_string(text_.size()));
  int depth = 0;
  std::string brackets;
  for (std::size_t at = 0; at < text_.size();) {
    const char c = text_[at];
    if (is_digit(c) || c == '.') {
      const std::size_t end = end_of_number(text_, at);
      translated_ += text_.substr(at, end - at);
      at = end;
      continue;
    }
    if (starts_name(c)) {
      std::size_t end = at;
      while (end < text_.size() && continues_name(text_[end])) ++end;
      const std::string name = text_.substr(at, end - at);
      std::size_t next = end;
      while (next < text_.size() && text_[next] == ' ') ++next;
      const bool call = next < text_.size() && text_[next] == '(';
      const bool indexed = next < text_.size() && text_[next] == '[';
      const bool suffix = at > 0 && is_digit(text_[at - 1]) && (name == "Ki" || name == "Mi" || name == "Gi");
      if (!call && !suffix) names_.push_back({name, at, indexed});
      translated_ += name;
      at = end;
      continue;
    }
    const bool comparison =
        at + 1 < text_.size() && text_[at + 1] == '=' && std::string_view("<>=!").find(c) != std::string_view::npos;
    if (comparison) {
      translated_ += text_.substr(at, 2);
      at += 2;
      continue;
    }
    if (c == '(' || c == '[') {
      brackets += c == '(' ? ')' : ']';
      if (++depth > kMaxDepth) place_.after(at).fail("brackets are nested too deeply");
    }
    if (c == ')' || c == ']') {
      --depth;
      if (brackets.empty() || brackets.back() != c)
        place_.after(at).fail(std::string("unexpected '") + c + "' in '" + text_ + "'");
      brackets.pop_back();
    }
    const std::size_t op = kOperators.find(c);
    const bool other = std::string_view(" ()[],<>?:&|").find(c) != std::string_view::npos;
    if (op == std::string_view::npos && !other) {
      place_.after(at).fail(std::string("unexpected '") + c + "' in '" + text_ + "'");
    }
    translated_ += op != std::string_view::npos ? kTranslated[op] : c == '[' ? '(' : c == ']' ? ')' : c;
    ++at;
  }
  if (!brackets.empty())
    place_.after(text_.size()).fail(std::string("a '") + brackets.back() + "' is missing in '" + text_ + "'");
  // An indexed tensor is a function to muParser, of another name than the tensor's element itself. Its longer name
  // moves what follows, so mistakes are looked for before.
  Parser parser;
  double any = 1;
  ElementFormula::Element element = [](double) { return 1.0; };
  for (const Name& name : names_) {
    if (name.indexed) {
      parser.define(name.text, element);
    } else {
      parser.define(name.text, &any);
    }
  }
  const auto both = [&](const Name& name) {
    return name.indexed && std::any_of(names_.begin(), names_.end(),
                                       [&](const Name& other) { return !other.indexed && other.text == name.text; });
  };
  if (std::none_of(names_.begin(), names_.end(), both)) {
    parser.set(translated_);
    parser.parse();
    if (parser.failed()) {
      place_.after(std::min(parser.position(), text_.size())).fail("'" + text_ + "': " + parser.message());
    }
  }
  for (auto name = names_.rbegin(); name != names_.rend(); ++name) {
    if (name->indexed) translated_.insert(name->at + name->text.size(), kElementSuffix);
  }
}

std::vector<std::string> Formula::names() const {
  std::vector<std::string> result;
  for (const Name& name : names_) {
    if (!name.indexed && std::find(result.begin(), result.end(), name.text) == result.end())
      result.push_back(name.text);
  }
  return result;
}

std::vector<std::string> Formula::indexed() const {
  std::vector<std::string> result;
  for (const Name& name : names_) {
    if (name.indexed && std::find(result.begin(), result.end(), name.text) == result.end()) result.push_back(name.text);
  }
  return result;
}

void Formula::require_known(const std::vector<std::string>& values, const std::vector<std::string>& tensors) const {
  for (const Name& name : names_) {
    const std::vector<std::string>& known = name.indexed ? tensors : values;
    if (std::find(known.begin(), known.end(), name.text) != known.end()) continue;
    std::string message =
        std::string("unknown ") + (name.indexed ? "tensor" : "name") + " '" + name.text + "' in '" + text_ + "'";
    const std::string nearest = nearest_name(name.text, known);
    if (!nearest.empty()) {
      message += "; did you mean '" + nearest + "'?";
    } else if (!known.empty()) {
      message += "; there is";
      for (std::size_t i = 0; i < known.size(); ++i) message += (i == 0 ? " " : ", ") + known[i];
    }
    place_.after(name.at).fail(message);
  }
}

std::int64_t Formula::size(const Values& values, std::int64_t minimum) const {
  const double value = evaluate(*this, translated_, values, Arithmetic::exact);
  const auto fail = [&](const std::string& what) {
    place_.fail("'" + text_ + "' must be " + what + ", and is " + number_text(value));
  };
  if (!is_whole(value)) fail("a whole number");
  if (value < static_cast<double>(minimum)) fail("at least " + std::to_string(minimum));
  if (value > static_cast<double>(kLargestSize)) fail("at most 2^53");
  return static_cast<std::int64_t>(value);
}

double Formula::number(const Values& values) const { return evaluate(*this, translated_, values, Arithmetic::real); }

struct ElementFormula::State {
  Parser parser;
  std::list<std::pair<std::string, double>> variables;  // whose addresses stay
  std::list<Element> tensors;
};

ElementFormula::ElementFormula(const Formula& formula, const Values& constants,
                               const std::map<std::string, Element>& tensors)
    : state_(std::make_unique<State>()) {
  for (const std::string& name : formula.names()) {
    const auto constant = constants.find(name);
    auto& variable = state_->variables.emplace_back(name, constant == constants.end() ? 0 : constant->second);
    state_->parser.define(name, &variable.second);
  }
  for (const std::string& name : formula.indexed()) {
    state_->parser.define(name + std::string(kElementSuffix), state_->tensors.emplace_back(tensors.at(name)));
  }
  state_->parser.set(formula.translated_);
}

ElementFormula::~ElementFormula() = default;

double* ElementFormula::variable(std::string_view name) {
  const auto found = std::find_if(state_->variables.begin(), state_->variables.end(),
                                  [&](const auto& variable) { return variable.first == name; });
  return found == state_->variables.end() ? nullptr : &found->second;
}

double ElementFormula::operator()() const {
  trouble.thrown = nullptr;
  trouble.arithmetic = Arithmetic::real;
  const double value = state_->parser.evaluate();
  if (trouble.thrown) std::rethrow_exception(trouble.thrown);
  return value;
}

}  // namespace roofline
