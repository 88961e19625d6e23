#include "report/host_cause_text.hpp"

#include <fmt/format.h>

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

}  // namespace roofline
