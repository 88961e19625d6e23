#include "profile/cpu/loop_remarks.hpp"

#include <string_view>

#include "text/parse.hpp"
#include "text/source_place.hpp"

namespace roofline {

void add_remarks(Report& report, const CompilerRemarks& remarks) {
  for (Point& point : report.points) {
    if (!point.profiled || !point.profiled->loop || !point.profiled->loop->loop) continue;
    const std::string_view place = line_of_place(point.profiled->line);
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) continue;
    if (const auto number = parsed_number<int>(place.substr(colon + 1))) {
      point.profiled->loop->remark = remarks.why_not(place.substr(0, colon), *number);
    }
  }
}

}  // namespace roofline
