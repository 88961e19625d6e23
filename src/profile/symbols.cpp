#include "profile/symbols.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "text/text.hpp"

namespace roofline {
namespace {

/// Follows brackets: how deep a position is inside them.
class Depth {
 public:
  /// Nesting depth before the character.
  int at(char character) {
    if (character == '>' && last_ == '-') return depth_;  // an arrow
    if (character == ')' || character == '>' || character == '}') depth_ = std::max(0, depth_ - 1);
    const int here = depth_;
    if (character == '(' || character == '<' || character == '{') ++depth_;
    last_ = character;
    return here;
  }

 private:
  int depth_ = 0;
  char last_ = 0;
};

/// Positions of `separator` outside all brackets.
std::vector<std::size_t> outside(std::string_view text, std::string_view separator) {
  std::vector<std::size_t> places;
  Depth depth;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth.at(text[i]) == 0 && text.substr(i).starts_with(separator)) places.push_back(i);
  }
  return places;
}

/// Text before the first such bracket outside other brackets.
std::string_view before(std::string_view text, std::string_view bracket) {
  const std::vector<std::size_t> places = outside(text, bracket);
  return places.empty() ? text : text.substr(0, places.front());
}

std::vector<std::string_view> parts(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> found;
  std::size_t begin = 0;
  for (const std::size_t end : outside(text, separator)) {
    found.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + separator.size();
  }
  found.push_back(trimmed(text.substr(begin)));
  return found;
}

/// "cutlass::gemm::Gemm<float, 4>" → "Gemm"; for a lambda, the enclosing function or its template; empty for numbers.
std::string_view argument_name(std::string_view argument) {
  std::vector<std::string_view> names = parts(argument, "::");
  bool lambda = false;
  while (names.size() > 1 && (names.back().starts_with("{") || names.back().starts_with("operator"))) {
    names.pop_back();
    lambda = true;
  }
  std::string_view name = before(before(names.back(), "<"), "(");
  if (lambda && name.size() + 1 < names.back().size() && names.back()[name.size()] == '<') {
    // The type of its elements is a worse name than the function's.
    constexpr std::array kTypes = {"float", "double", "bool", "char", "short", "int", "long", "unsigned"};
    const std::string_view arguments = names.back().substr(name.size() + 1);
    std::string_view inner = argument_name(before(arguments, ","));
    inner = inner.substr(0, inner.find('>'));
    if (!inner.empty() && std::find(kTypes.begin(), kTypes.end(), inner) == kTypes.end()) return inner;
  }
  while (!name.empty() && (name.back() == '*' || name.back() == '&' || name.back() == ' ')) name.remove_suffix(1);
  if (const std::size_t space = name.rfind(' '); space != std::string_view::npos) name.remove_prefix(space + 1);
  const bool is_name = !name.empty() && (std::isalpha(static_cast<unsigned char>(name.front())) != 0 || name[0] == '_');
  return is_name && name != "true" && name != "false" ? name : std::string_view();
}

}  // namespace

std::string short_name(std::string_view demangled) {
  std::string text(demangled);
  erase_all(text, "(anonymous namespace)::");
  std::string_view name = before(text, "(");
  // Only function names have a return type in front: "graph 3" and "fused add" are complete names.
  const bool is_function = text.find_first_of("(<") != std::string::npos;
  if (const auto words = outside(name, " "); is_function && !words.empty()) name.remove_prefix(words.back() + 1);
  const std::string_view own = parts(name, "::").back();
  const std::string_view base = before(own, "<");
  if (base.empty()) return std::string(demangled);
  std::string arguments;
  if (base.size() + 2 < own.size()) {
    constexpr int kMost = 3;
    int taken = 0;
    for (const std::string_view argument : parts(own.substr(base.size() + 1, own.size() - base.size() - 2), ",")) {
      const std::string_view of = argument_name(argument);
      if (of.empty() || taken == kMost) continue;
      arguments += (arguments.empty() ? "" : ", ") + std::string(of);
      ++taken;
    }
  }
  return std::string(base) + (arguments.empty() ? "" : "<" + arguments + ">");
}

std::string without_parameters(std::string_view demangled) {
  std::string text(demangled);
  erase_all(text, "(anonymous namespace)::");
  std::string_view name = before(text, "(");
  if (name.ends_with("operator") && text.substr(name.size()).starts_with("()")) {
    name = name.ends_with("}::operator") ? name.substr(0, name.rfind("::"))
                                         : std::string_view(text).substr(0, name.size() + 2);
  }
  if (const auto words = outside(name, " "); !words.empty() && name.find("operator") == std::string_view::npos) {
    name.remove_prefix(words.back() + 1);
  }
  return name.empty() ? std::string(demangled) : std::string(name);
}

}  // namespace roofline
