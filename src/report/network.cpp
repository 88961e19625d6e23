// The factor between the two is the collective's.
#include "report/network.hpp"

#include <fmt/format.h>

#include <cmath>

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

std::optional<double> calibrated_time(const Machine& machine, const Collective& collective, double bytes) {
  const SweepPoint *below = nullptr, *above = nullptr;
  for (const Sweep& sweep : machine.sweeps) {
    if (sweep.name != "sweep.nccl." + collective.name) continue;
    for (const SweepPoint& point : sweep.points) {
      if (point.ranks != collective.ranks || !(point.value > 0)) continue;
      if (point.x <= bytes) below = &point;
      if (point.x >= bytes && above == nullptr) above = &point;
    }
  }
  const auto seconds = [](const SweepPoint& point) { return point.x / point.value; };
  if (below == nullptr) return above == nullptr ? std::nullopt : std::optional(seconds(*above));
  // More than the largest goes at its rate.
  if (above == nullptr) return bytes / below->value;
  if (above->x == below->x) return seconds(*below);
  const double way = std::log(bytes / below->x) / std::log(above->x / below->x);
  return seconds(*below) * std::pow(seconds(*above) / seconds(*below), way);
}

std::string network_text(const Point& point) {
  const auto rates = network_rates(point);
  if (!rates) return {};
  return fmt::format("bus {}, algorithm {}", rate(rates->bus, CeilingKind::bandwidth),
                     rate(rates->algorithm, CeilingKind::bandwidth));
}

}  // namespace roofline
