// The file consists of the parts of report.json; only the duration is padded, so that a later one fits in its place.
#include "analyze/journal.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "host/files.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

constexpr std::string_view kDurationKey = R"("duration_s": )";  // within a JSON string it would be \"duration_s\"

/// As wide as any duration.
std::string duration_text(double seconds) { return fmt::format("{:<24.6f}", seconds); }

}  // namespace

void Journal::begin(Report report) {
  report.invocation.duration_s = 0;
  auto [opening, closing] = report_frame(report);
  duration_at_ = opening.find(kDurationKey) + kDurationKey.size();
  opening.replace(duration_at_, std::string_view("0.0").size(), duration_text(0));
  file_.emplace(path_, opening, closing);
}

void Journal::add_rows(const Report& so_far) {
  if (path_.empty()) return;
  if (!file_) begin(so_far);
  file_->replace(duration_at_, duration_text(so_far.invocation.duration_s));
  for (; count_ < so_far.points.size(); ++count_) {
    const std::string row = row_text(so_far.points[count_], so_far.machine);
    file_->append(count_ > 0 ? ',' + row : row);
  }
}

void Journal::finish(const Report& report) {
  if (path_.empty()) return;
  file_.reset();
  write_file(path_, render_json(report));
}

}  // namespace roofline
