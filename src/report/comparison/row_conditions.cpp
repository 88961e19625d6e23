// The figures are those that the rows carry.
#include "report/comparison/row_conditions.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/roof_share.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::optional<double> clock_of(const Point* point) {
  return point != nullptr && point->time ? point->time->clock_hz : std::nullopt;
}

std::optional<Contention> contention_of(const Point* point) {
  return point != nullptr ? point->contention : std::nullopt;
}

std::optional<double> slow_reference_of(const Point* point) {
  return point != nullptr && is_slowed(*point) ? reference_rate_of_roof(*point) : std::nullopt;
}

/// "before: other programs used 1.1 of 2 cores".
void append_load(std::string& text, const char* when, const std::optional<Contention>& seen,
                 const std::optional<double>& reference) {
  if (!seen && !reference) return;
  text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", when,
                      seen ? describe(*seen) : fmt::format("reference probe at {} of its roof", percent(*reference)));
}

}  // namespace

bool RowConditions::empty() const {
  return configuration_now.empty() && !clock_now_hz && !contention_before && !contention_now && !reference_before &&
         !reference_now;
}

RowConditions conditions_of(const Point* before, const Point* now) {
  RowConditions found{.contention_before = contention_of(before),
                      .contention_now = contention_of(now),
                      .reference_before = slow_reference_of(before),
                      .reference_now = slow_reference_of(now)};
  const bool chosen = before != nullptr && now != nullptr && !before->tried.empty() && !now->tried.empty();
  if (chosen && before->workload.implementation != now->workload.implementation) {
    found.configuration_before = before->workload.implementation;
    found.configuration_now = now->workload.implementation;
  }
  const std::optional<double> then = clock_of(before), today = clock_of(now);
  if (then && today && *then > 0 && *today > 0 && std::abs(std::log(*today / *then)) > std::log1p(kOtherRowClock)) {
    found.clock_before_hz = then;
    found.clock_now_hz = today;
  }
  return found;
}

std::string conditions_text(const RowConditions& conditions) {
  std::string text;
  if (!conditions.configuration_now.empty()) {
    text = fmt::format("{} before, {} now", clean_line(conditions.configuration_before),
                       clean_line(conditions.configuration_now));
  }
  if (conditions.clock_before_hz && conditions.clock_now_hz) {
    text += fmt::format("{}clock {} before, {} now", text.empty() ? "" : "; ", si(*conditions.clock_before_hz, "Hz"),
                        si(*conditions.clock_now_hz, "Hz"));
  }
  append_load(text, "before", conditions.contention_before, conditions.reference_before);
  append_load(text, "now", conditions.contention_now, conditions.reference_now);
  return text;
}

}  // namespace roofline
