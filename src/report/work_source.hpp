// Where the times, FLOPs and bytes of rows come from, and why they are missing.
#pragma once

#include <string>
#include <string_view>

#include "report/report.hpp"

namespace roofline {

/// Source of a row's FLOPs and bytes: "counted", "modelled", "stated"; empty if it has none, and for suites.
std::string_view work_source(const Point& point);

/// True if a counter of the row's FLOPs or bytes is missing; `not_counted` names it.
bool is_counted_in_part(const Point& point);
/// True if the row has bytes and not all of its FLOPs are known: its intensity is not known either.
bool lacks_flops(const Point& point);

/// True if the row's buffers, its formula or its machine code contradict the work that its suite states.
bool has_wrong_work(const Point& point);

/// True if all was counted, and is zero.
bool did_nothing(const Point& point);

/// True if the row's bytes are modelled, a lower bound: its intensity is an upper bound, its share of a memory roof a
/// lower bound.
bool bytes_is_lower_bound(const Point& point);
/// "≤ " for such an intensity and "≥ " for such a share; empty if the figure is exact.
std::string upper_bound_mark(const Point& point);
std::string lower_bound_mark(const Point& point);

/// True if some row was not traced and counted by roofline itself: each row then names its sources.
bool shows_sources(const Report& report);
/// Sources of times, FLOPs and bytes, as sentences.
std::string where_figures_are_from(const Report& report);

/// Why a profiled row has no work; empty if it has.
std::string why_no_work(const Point& point);

/// Why there are no roofs, and how to get them; empty with counters or without kernels.
std::string why_no_roofs(const Report& report);

}  // namespace roofline
