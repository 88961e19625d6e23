// Stored as they were counted; what follows from them is recomputed.
#include "report/json/counters_json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

Json kernel_to_json(const KernelLaunch& kernel) {
  Json json = {{"kernel", kernel.kernel},
               {"blocks", kernel.blocks},
               {"threads", kernel.threads},
               {"registers", kernel.registers},
               {"shared_bytes", kernel.shared_bytes},
               {"local_bytes", kernel.local_bytes},
               {"blocks_per_sm", kernel.blocks_per_sm}};
  put_number(json, "occupancy", kernel.occupancy);
  json["limited_by"] = to_string(kernel.limit);
  put_number(json, "waves", kernel.waves);
  return json;
}

KernelLaunch read_kernel(const JsonValue& json) {
  KernelLaunch kernel;
  kernel.kernel = json["kernel"].text();
  kernel.blocks = json["blocks"].integer();
  kernel.threads = json["threads"].integer();
  kernel.registers = json["registers"].integer();
  kernel.shared_bytes = json["shared_bytes"].number();
  kernel.local_bytes = json["local_bytes"].number();
  kernel.blocks_per_sm = json["blocks_per_sm"].integer();
  kernel.occupancy = json.number_or("occupancy", 0);
  kernel.limit = json["limited_by"].word(parse_occupancy_limit, "limit of the occupancy");
  kernel.waves = json.number_or("waves", 0);
  return kernel;
}

}  // namespace

Json counters_to_json(const Counters& counters) {
  Json json = {{"source", counters.source}, {"passes", counters.passes}};
  json["values"] = Json::object();
  for (const auto& [id, value] : counters.values) put_number(json["values"], id.c_str(), value);
  if (!counters.missing.empty()) json["missing"] = counters.missing;
  json["kernels"] = Json::array();
  for (const KernelLaunch& kernel : counters.kernels) json["kernels"].push_back(kernel_to_json(kernel));
  return json;
}

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
  }
  return json;
}

Counters read_counters(const JsonValue& json) {
  Counters counters;
  counters.source = json["source"].text();
  counters.passes = json["passes"].integer();
  for (const auto& [id, value] : json["values"].members()) counters.values[id] = value.number();
  if (const auto missing = json.find("missing")) {
    for (const auto& [id, reason] : missing->members()) counters.missing[id] = reason.text();
  }
  for (const JsonValue& kernel : json["kernels"].elements()) counters.kernels.push_back(read_kernel(kernel));
  return counters;
}

}  // namespace roofline
