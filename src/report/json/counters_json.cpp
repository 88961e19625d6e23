// Stored as they were counted; what follows from them is recomputed.
#include "report/json/counters_json.hpp"

#include "report/json/json_members.hpp"

namespace roofline {
using Json = nlohmann::ordered_json;

static auto vocabulary(OccupancyLimit) { return std::pair(&parse_occupancy_limit, "limit of the occupancy"); }

void members(auto& io, OccupancyChange& change) {
  io("of", change.of);
  io("amount", change.amount);
  io("occupancy", change.occupancy);
}

void members(auto& io, KernelLaunch& kernel) {
  io("kernel", kernel.kernel);
  io("blocks", kernel.blocks);
  io("threads", kernel.threads);
  io("registers", kernel.registers);
  io("shared_bytes", kernel.shared_bytes);
  io("local_bytes", kernel.local_bytes);
  io("blocks_per_sm", kernel.blocks_per_sm);
  io.number_or("occupancy", kernel.occupancy, 0);
  io("limited_by", kernel.limit);
  io.number_or("waves", kernel.waves, 0);
  io.unless_empty("occupancy_changes", kernel.changes);
}

void members(auto& io, Counters& counters) {
  io("source", counters.source);
  io("passes", counters.passes);
  io("values", counters.values);
  io.unless_empty("missing", counters.missing);
  io("kernels", counters.kernels);
}

Json counters_to_json(const Counters& counters) { return to_json_value(counters); }

Json advice_to_json(const std::vector<Advice>& advice) {
  Json json = Json::array();
  for (const Advice& one : advice) {
    Json evidence = Json::object();
    for (const auto& [quantity, value] : one.evidence) evidence[quantity] = value;
    json.push_back({{"rule", one.rule},
                    {"finding", one.finding},
                    {"next", one.next},
                    {"source", one.source},
                    {"evidence", std::move(evidence)}});
    put_text(json.back(), "line", one.line);
  }
  return json;
}

Counters read_counters(const JsonValue& json) { return read_value<Counters>(json); }

}  // namespace roofline
