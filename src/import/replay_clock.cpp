#include "import/replay_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/roof_share.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

struct ClockRange {
  double low = 0, high = 0;

  void add(double hz) {
    low = low > 0 ? std::min(low, hz) : hz;
    high = std::max(high, hz);
  }
  std::string text() const {
    const std::string from = si(low, "Hz"), to = si(high, "Hz");
    return from == to ? from : fmt::format("{} to {}", from, to);
  }
};

/// The clock of the roof that limits a compute-bound row.
std::optional<double> clock_of_limit(const Point& point, const Report& report) {
  if (point.bound.label != BoundLabel::compute) return std::nullopt;
  const Machine& machine = machine_of(report, point);
  const Ceiling* const roof = machine.find(point.bound.limiting_ceiling, point.bound.regime);
  return roof == nullptr ? std::nullopt : clock_of_roof(*roof, machine);
}

}  // namespace

std::string note_of_replay_clocks(const Report& report) {
  ClockRange ran, roofs;
  std::int64_t rows = 0;
  for (const Point& point : report.points) {
    const auto clock = replay_clock_hz(point), of_roof = clock_of_limit(point, report);
    if (!clock || !of_roof || *clock >= kSameReplayClock * *of_roof) continue;
    ran.add(*clock);
    roofs.add(*of_roof);
    ++rows;
  }
  if (rows == 0) return {};
  return fmt::format(
      "{} ran at {} while timed, and the compute roofs are of {}: shares of these roofs are of the "
      "faster clock. ncu locks the clock by default; record with ncu --clock-control none",
      counted_noun(rows, "compute-bound row", "compute-bound rows"), ran.text(), roofs.text());
}

}  // namespace roofline
