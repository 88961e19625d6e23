#include "report/host_cause_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {

double sum_of(const ByLine& lines) {
  double sum = 0;
  for (const auto& [line, seconds] : lines) sum += seconds;
  return sum;
}

std::string short_place(HostFrame frame) {
  const std::string base = frame.function.substr(0, frame.function.find('('));
  if (!base.empty()) frame.function = base;
  return place_text(frame);
}

HostCause host_cause(std::string id, double seconds, std::string finding, std::string_view where,
                     const std::string& line, std::string action) {
  finding += line.empty() ? "." : fmt::format(", {} {}.", where, shorten(line, 80));
  return {std::move(id), seconds, std::move(finding), std::move(action), line};
}

namespace {

/// The file and the function of "meter.py:36 Reader.feed".
std::pair<std::string_view, std::string_view> function_of(std::string_view line) {
  const std::size_t colon = line.find(':'), space = line.find(' ');
  if (colon == std::string_view::npos || space == std::string_view::npos) return {line, {}};
  return {line.substr(0, colon), line.substr(space)};
}

bool is_general(const HostCause& cause) { return cause.id == "interpreted" || cause.id == "python-library"; }

/// True if it says what a good part of the other one's time is for, or has a sure remedy where that one, a wait for
/// memory, has none.
bool explains(const HostCause& cause, const HostCause& general) {
  constexpr double kGoodPart = 0.5, kSurer = 0.25;
  if (general.id == "memory-waits") return !is_general(cause) && cause.seconds >= kSurer * general.seconds;
  if (cause.seconds < kGoodPart * general.seconds) return false;
  if (cause.id == "pattern-compilation" && general.id == "pattern-matching") return true;
  return is_general(general) && !is_general(cause) && !cause.line.empty() &&
         function_of(cause.line) == function_of(general.line);
}

}  // namespace

void order_causes(std::vector<HostCause>& causes) {
  std::ranges::stable_sort(causes, std::ranges::greater(), &HostCause::seconds);
  for (auto general = causes.begin(); general != causes.end(); ++general) {
    const auto specific = std::find_if(std::next(general), causes.end(),
                                       [&](const HostCause& cause) { return explains(cause, *general); });
    if (specific != causes.end()) std::rotate(general, specific, std::next(specific));
  }
}

}  // namespace roofline
