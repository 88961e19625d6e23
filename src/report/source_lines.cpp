#include "report/source_lines.hpp"

#include <array>

#include "text/parts.hpp"

namespace roofline {

bool is_openmp_directive(std::string_view source) {
  static constexpr auto kDirectives = std::to_array<std::string_view>({"#pragma omp", "!$omp", "!$OMP"});
  return starts_with_any(source, kDirectives);
}

bool is_dynamic_loop(std::string_view source) {
  static constexpr auto kLoops =
      std::to_array<std::string_view>({"#pragma omp parallel for", "!$omp parallel do", "!$OMP PARALLEL DO"});
  const auto holds = [source](std::string_view part) { return source.find(part) != std::string_view::npos; };
  return starts_with_any(source, kLoops) &&
         (holds("schedule(dynamic") || holds("schedule(guided") || holds("SCHEDULE(DYNAMIC"));
}

bool is_call_with_slice(std::string_view source) {
  static constexpr auto kCalls = std::to_array<std::string_view>({"call ", "CALL ", "Call "});
  if (!starts_with_any(source, kCalls) || source.find('(') == std::string_view::npos) return false;
  // In the parentheses of an argument: an index, and a colon in a later dimension.
  int depth = 0;
  bool index = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char letter = source[i];
    if (letter == '!' && depth == 0) break;
    if (letter == '(') {
      ++depth;
      begin = i + 1;
      index = false;
    }
    if (depth == 2 && (letter == ',' || letter == ')')) {
      const std::string_view part = source.substr(begin, i - begin);
      const bool whole = part.find(':') != std::string_view::npos;
      if (whole && index) return true;
      index = index || !whole;
      begin = i + 1;
    }
    if (letter == ')') --depth;
  }
  return false;
}

}  // namespace roofline
