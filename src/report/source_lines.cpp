#include "report/source_lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "text/parts.hpp"

namespace roofline {

bool is_of_name(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

namespace {

/// The parenthesis that closes the one at `open`.
std::size_t end_of_parentheses(std::string_view source, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < source.size(); ++i) {
    if (source[i] == '(') ++depth;
    if (source[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// A condition without assignments and steps, which calls nothing but reads of variables.
bool reads_only(std::string_view condition) {
  static constexpr auto kReads = std::to_array<std::string_view>(
      {"load", "test", "test_and_set", "__atomic_load_n", "__atomic_test_and_set", "atomic_load",
       "atomic_load_explicit", "atomic_flag_test_and_set", "READ_ONCE", "while", "__sync_fetch_and_add"});
  for (std::size_t i = 0; i < condition.size(); ++i) {
    const char letter = condition[i], next = i + 1 < condition.size() ? condition[i + 1] : ' ';
    const char before = i > 0 ? condition[i - 1] : ' ';
    if ((letter == '+' || letter == '-') && next == letter) return false;
    if (letter == '=' && next != '=' && before != '=' && before != '!' && before != '<' && before != '>') return false;
    if (letter != '(' || !is_of_name(before)) continue;
    std::size_t begin = i;
    while (begin > 0 && is_of_name(condition[begin - 1])) --begin;
    if (std::ranges::find(kReads, condition.substr(begin, i - begin)) == kReads.end()) return false;
  }
  return true;
}

/// "{}", ";", "{ _mm_pause(); }", "std::this_thread::yield();".
bool only_pauses(std::string_view body) {
  static constexpr auto kPauses = std::to_array<std::string_view>(
      {"std::this_thread::yield", "std::hint::spin_loop", "hint::spin_loop", "spin_loop", "thread::yield_now",
       "std::thread::yield_now", "__builtin_ia32_pause", "_mm_pause", "sched_yield", "cpu_relax", "continue"});
  bool ends = false;
  while (!body.empty()) {
    const auto pause = std::ranges::find_if(kPauses, [body](std::string_view name) { return body.starts_with(name); });
    ends = ends || body.front() == ';' || body.front() == '}';
    if (pause == kPauses.end() && std::string_view(" {}();").find(body.front()) == std::string_view::npos) return false;
    body.remove_prefix(pause == kPauses.end() ? 1 : pause->size());
  }
  return ends;
}

/// A line that is nothing but a pause: the body of a loop that waits.
bool is_pause(std::string_view source) {
  const bool named = !source.empty() && is_of_name(source.front());
  return named && !source.starts_with("continue") && only_pauses(source);
}

}  // namespace

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

bool is_busy_wait(std::string_view source) {
  constexpr std::string_view kWhile = "while";
  if (!source.starts_with(kWhile)) return is_pause(source);
  const std::size_t open = source.find_first_not_of(' ', kWhile.size());
  if (open == std::string_view::npos) return false;
  const bool rust = source[open] != '(';
  const std::size_t end = rust ? source.find('{') : end_of_parentheses(source, open);
  if (end == std::string_view::npos) return false;
  std::string_view body = source.substr(rust ? end : end + 1);
  body = body.substr(0, body.find("//"));
  return reads_only(source.substr(open, end - open)) && only_pauses(body);
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
