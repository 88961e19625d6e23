
#include "model/collective.hpp"
#include "model/nan.hpp"
#include "report/diagnosis/quantity_groups.hpp"
#include "report/network.hpp"

namespace roofline {

void add_network(QuantityCollector& out, const Point& point, const Machine& machine) {
  if (!point.work.collective) return;
  const Collective& collective = *point.work.collective;
  const double time = point.time->median;
  const bool product = point.work.total_flops() > 0;
  double latency_s = 0, bytes_s = kNaN, product_s = 0;
  for (const ResourceTime& resource : point.bound.resources) {
    const bool network = level_of(resource.ceiling) == Level::network;
    if (network && resource.kind == CeilingKind::latency) {
      latency_s = resource.time_s;
    } else if (network) {
      bytes_s = resource.time_s;
    } else if (resource.kind != CeilingKind::overhead) {
      product_s = std::fmax(product_s, resource.time_s);
    }
    if (resource.ceiling == point.bound.limiting_ceiling) {
      out.flag_is("network.latency.bound", network && resource.kind == CeilingKind::latency);
      out.flag_is("network.bound", network && resource.kind == CeilingKind::bandwidth);
    }
  }
  out.flag_is("product", product);
  const double factor = bus_factor(collective.name, collective.ranks).value_or(kNaN);
  if (const auto rates = network_rates(point)) {
    out.set("network.bus", rates->bus);
    out.set("network.message", rates->algorithm * time);
  }
  if (const Ceiling* roof = machine.network(collective)) out.set("network.roof", roof->value);
  if (const LatencyLine* line = machine.line(collective)) {
    out.set("network.latency.share", line->latency_s / time);
    out.set("network.enough", 9 * line->latency_s * line->rate / factor);
  }
  const double bytes = point.work.bytes.contains(Level::network) ? point.work.bytes.at(Level::network).total() : kNaN;
  const auto calibrated = calibrated_time(machine, collective, bytes);
  const double need_s = calibrated.value_or(latency_s + bytes_s);
  out.set("network.need", need_s / time);
  if (!product) {
    out.set("network.of_size", calibrated ? std::optional(*calibrated / time) : std::nullopt);
    return;
  }
  if (latency_s > 0) out.set("network.latency.part", latency_s / need_s);
  if (!(product_s > 0)) return;
  out.set("product.share", product_s / time);
  out.set("apart.share", (product_s + need_s) / time);
  out.set("overlap.gain", std::min(product_s, need_s) / time);
}

}  // namespace roofline
