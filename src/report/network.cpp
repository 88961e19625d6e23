// The factor between the two is the collective's.
#include "report/network.hpp"

#include <fmt/format.h>

#include "model/collective.hpp"
#include "text/format.hpp"

namespace roofline {

std::optional<NetworkRates> network_rates(const Point& point) {
  const double bus = point.bandwidth(Level::network);
  if (!point.work.collective || !(bus > 0)) return std::nullopt;
  const auto factor = bus_factor(point.work.collective->name, point.work.collective->ranks);
  if (!factor || !(*factor > 0)) return std::nullopt;
  return NetworkRates{.algorithm = bus / *factor, .bus = bus};
}

std::string network_text(const Point& point) {
  const auto rates = network_rates(point);
  if (!rates) return {};
  return fmt::format("bus {}, algorithm {}", rate(rates->bus, CeilingKind::bandwidth),
                     rate(rates->algorithm, CeilingKind::bandwidth));
}

}  // namespace roofline
