#include "report/memory_flow.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "model/counters.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kSector = 32, kWavefront = 128;  // bytes

void add_requests(MemoryFlow& flow, const Counters& counters) {
  if (flow.level == Level::l1) {
    const auto sectors = counters.sum({"global.load_sectors", "global.store_sectors"});
    const auto requests = counters.sum({"global.load_instructions", "global.store_instructions"});
    const auto asked = counters.sum({"global.load_bytes", "global.store_bytes"});
    if (sectors && requests && *requests > 0) flow.sectors = *sectors / *requests;
    if (sectors && asked && *asked > 0) flow.excess = *sectors * kSector / *asked;
  }
  if (flow.level == Level::shared) {
    const auto conflicts = counters.find("shared.bank_conflicts");
    const double wavefronts = flow.bytes / kWavefront;
    if (conflicts && wavefronts > *conflicts) flow.excess = wavefronts / (wavefronts - *conflicts);
  }
  const char* const rate = flow.level == Level::l1 ? "l1.hit_rate" : flow.level == Level::l2 ? "l2.hit_rate" : "";
  if (const auto hits = counters.find(rate)) flow.hit_rate = *hits;
}

}  // namespace

std::vector<MemoryFlow> memory_flows(const Point& point, const Machine& machine) {
  std::vector<MemoryFlow> flows;
  if (!point.time || !point.counters || machine.device.kind != DeviceKind::cuda) return flows;
  const Counters& counters = *point.counters;
  for (const Level level : {Level::shared, Level::l1, Level::l2, Level::hbm}) {
    const std::optional<double> bytes = counted_bytes(counters, level);
    if (!bytes || !(*bytes > 0) || !(point.time->median > 0)) continue;
    MemoryFlow flow;
    flow.level = level;
    flow.bytes = *bytes;
    flow.rate = *bytes / point.time->median;
    Traffic traffic = unsplit_traffic(*bytes);
    if (level == Level::hbm) traffic = counted_traffic(counters).value_or(traffic);
    if (!traffic.unsplit) {
      flow.read = traffic.read;
      flow.write = traffic.write;
    }
    if (const auto roof = machine.bandwidth(level, traffic); roof && roof->value > 0) {
      flow.roof = roof->value;
      flow.ceiling = roof->nearest->name;
    }
    add_requests(flow, counters);
    flows.push_back(std::move(flow));
  }
  return flows;
}

std::string remark_on(const MemoryFlow& flow) {
  constexpr double kMuch = 1.25;
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (std::isfinite(flow.hit_rate)) add(fmt::format("hit rate {}", percent(flow.hit_rate)));
  if (std::isfinite(flow.sectors)) add(fmt::format("{:.3g} sectors per request", flow.sectors));
  if (flow.excess >= kMuch) {
    add(flow.level == Level::shared ? fmt::format("{} the ideal wavefronts", factor(flow.excess))
                                    : fmt::format("{} the requested bytes", factor(flow.excess)));
  }
  if (std::isfinite(flow.read)) add(fmt::format("{} read, {} written", si(flow.read, "B"), si(flow.write, "B")));
  return text;
}

}  // namespace roofline
