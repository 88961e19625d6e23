// A family's mark beside its rows, as the chart draws it.
#pragma once

#include <string>

#include "report/report.hpp"

namespace roofline {

/// The family's name as the chart's legend has it.
std::string family_name(const Point& point);

/// The markers of all families, in the chart's shapes and colours, for html_mark to refer to. Once a page.
std::string html_mark_shapes(const Report& report);

/// A family's marker.
std::string html_mark(const Report& report, const Point& point);

}  // namespace roofline
