// report.json: a run's points to and from JSON. Stored values are written and read back as they are;
// derived ones (performance, bandwidth, fraction of the roof) are written for other programs and
// recomputed on reading. The keys are those of docs/report-schema.md.

#include "model/nan.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/json/counters_json.hpp"
#include "report/json/json.hpp"
#include "report/json/json_members.hpp"
#include "report/json/json_read.hpp"
#include "report/json/outcome_json.hpp"
#include "report/json/profile_json.hpp"
#include "report/network.hpp"
#include "report/profile_findings.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

Json operations_to_json(const std::map<Pipe, double>& operations) {
  Json json = Json::object();
  for (const auto& [pipe, count] : operations) json[std::string(to_string(pipe))] = count;
  return json;
}

/// What follows from the counters: FLOPs by pipe, bytes by level.
Json counted_to_json(const Counters& counters, Level memory) {
  Json json = {{"flops", operations_to_json(counted_flops(counters))}};
  json["bytes"] = Json::object();
  for (const Level level : {memory, Level::l3, Level::l2, Level::l1, Level::shared}) {
    if (const auto bytes = counted_bytes(counters, level)) json["bytes"][std::string(to_string(level))] = *bytes;
  }
  return json;
}

Json traffic_to_json(const Traffic& traffic) {
  Json json = {{"read", traffic.read}, {"write", traffic.write}};
  if (traffic.in_place) json["in_place"] = true;
  return json;
}

Traffic read_traffic(const JsonValue& json) {
  Traffic traffic{.read = json["read"].number(), .write = json["write"].number()};
  if (const auto in_place = json.find("in_place")) traffic.in_place = in_place->boolean();
  return traffic;
}

Json work_to_json(const Work& work) {
  Json json = {{"flops", operations_to_json(work.flops)}, {"uncounted", operations_to_json(work.uncounted)}};
  json["bytes"] = Json::object();
  json["traffic"] = Json::object();
  for (const auto& [level, traffic] : work.bytes) {
    const std::string name(to_string(level));
    json["bytes"][name] = traffic.total();
    json["traffic"][name] = traffic_to_json(traffic);
  }
  if (work.extra.total() > 0) json["extra"] = traffic_to_json(work.extra);
  json["launches"] = work.launches;
  if (work.collective) json["collective"] = {{"name", work.collective->name}, {"ranks", work.collective->ranks}};
  if (work.threads > 0) json["threads"] = work.threads;
  if (work.cache) json["cache"] = to_string(*work.cache);
  if (work.write_only) put_number(json, "write_only", *work.write_only);
  return json;
}

Json resources_to_json(const std::vector<ResourceTime>& resources) {
  Json json = Json::array();
  for (const ResourceTime& resource : resources) {
    Json entry = {{"ceiling", resource.ceiling}, {"kind", to_string(resource.kind)}, {"amount", resource.amount}};
    put_number(entry, "time_s", resource.time_s);
    put_interval(entry, "ci95", resource.ci95);
    entry["regime"] = to_string(resource.regime);
    if (resource.at_clock_hz) put_number(entry, "at_clock_hz", *resource.at_clock_hz);
    if (resource.mixed_with) entry["mixed_with"] = *resource.mixed_with;
    if (!entry.contains("time_s")) entry["absent"] = {{"time_s", "no ceiling was measured for it"}};
    json.push_back(std::move(entry));
  }
  return json;
}

/// The bound, as far as there is one, and under `absent` why the rest is missing.
void put_bound(Json& json, const Point& point, Json& absent) {
  const Bound& bound = point.bound;
  const std::string no_work = why_no_work(point);
  if (no_work.empty()) put_number(json, "ridge", bound.ridge);
  if (!json.contains("ridge")) {
    absent["ridge"] = !no_work.empty()               ? no_work.c_str()
                      : point.work.total_flops() > 0 ? "no ceiling was measured for its pipe or its memory"
                                                     : "the work has no counted FLOPs";
  }
  if (bound.label == BoundLabel::unknown) {
    absent["bound"] = no_work.empty() ? "no ceiling was measured for any resource of this work" : no_work;
  } else {
    json["bound"] = to_string(bound.label);
    json["limiting_ceiling"] = bound.limiting_ceiling;
    json["limiting_regime"] = to_string(bound.regime);
    put_number(json, "attainable_time_s", bound.attainable_time_s);
    json["suspect"] = bound.suspect;
    if (bound.provisional) json["provisional"] = true;
  }
  put_number(json, "fraction_of_roof", point.fraction_of_roof());
  if (json.contains("fraction_of_roof")) json["above_roof"] = point.above_roof();
  json["resources"] = resources_to_json(bound.resources);
}

std::map<Pipe, double> read_operations(const JsonValue& json) {
  std::map<Pipe, double> operations;
  for (const auto& [name, count] : json.members()) {
    const std::optional<Pipe> pipe = parse_pipe(name);
    if (!pipe) count.fail("unknown pipe '" + name + "'");
    operations[*pipe] = count.number();
  }
  return operations;
}

Work read_work(const JsonValue& json) {
  Work work;
  work.flops = read_operations(json["flops"]);
  work.uncounted = read_operations(json["uncounted"]);
  for (const auto& [name, traffic] : json["traffic"].members()) {
    const std::optional<Level> level = parse_level(name);
    if (!level) traffic.fail("unknown level '" + name + "'");
    work.bytes[*level] = read_traffic(traffic);
  }
  for (const auto& [name, bytes] : json["bytes"].members()) {
    const std::optional<Level> level = parse_level(name);
    if (!level || !work.bytes.contains(*level)) bytes.fail("has no counterpart under traffic");
    if (bytes.number() != work.bytes[*level].total()) bytes.fail("is not the sum of its traffic");
  }
  if (const auto extra = json.find("extra")) work.extra = read_traffic(*extra);
  work.launches = json["launches"].integer();
  if (const auto collective = json.find("collective")) {
    work.collective = {.name = (*collective)["name"].text(), .ranks = (*collective)["ranks"].integer()};
  }
  if (const auto threads = json.find("threads")) work.threads = threads->integer();
  if (const auto cache = json.find("cache")) work.cache = cache->word(parse_level, "level");
  work.write_only = json.optional_number("write_only");
  return work;
}

/// FLOP/byte at main memory, whichever level that is on the device that the work is for.
double main_memory_intensity(const Work& work) {
  return arithmetic_intensity(work, work.bytes.contains(Level::hbm) ? Level::hbm : Level::dram);
}

Bound read_bound(const JsonValue& json, const Work& work) {
  Bound bound;
  bound.arithmetic_intensity = main_memory_intensity(work);
  bound.ridge = json.number_or("ridge", kNaN);
  bound.attainable_time_s = kNaN;
  if (const auto label = json.find("bound")) {
    bound.label = label->word(parse_bound_label, "bound");
    bound.limiting_ceiling = json["limiting_ceiling"].text();
    bound.attainable_time_s = json["attainable_time_s"].number();
    if (!(bound.attainable_time_s > 0)) json["attainable_time_s"].fail("a time has to be more than 0 s");
    if (const auto regime = json.find("limiting_regime")) bound.regime = regime->word(parse_regime, "regime");
    bound.suspect = json["suspect"].boolean();
    if (const auto provisional = json.find("provisional")) bound.provisional = provisional->boolean();
  }
  for (const JsonValue& entry : json["resources"].elements()) {
    bound.resources.push_back({.ceiling = entry["ceiling"].text(),
                               .kind = entry["kind"].word(parse_ceiling_kind, "kind of ceiling"),
                               .amount = entry["amount"].number(),
                               .time_s = entry.number_or("time_s", kNaN),
                               .ci95 = entry.optional_interval("ci95"),
                               .regime = Regime::burst,
                               .at_clock_hz = entry.optional_number("at_clock_hz")});
    if (const auto regime = entry.find("regime")) {  // absent in files of version 0.1
      bound.resources.back().regime = regime->word(parse_regime, "regime");
    }
    if (const auto other = entry.find("mixed_with")) bound.resources.back().mixed_with = other->text();
  }
  return bound;
}

CacheMode read_cache_mode(const JsonValue& json) {
  const std::string mode = json.text();
  for (const CacheMode candidate : {CacheMode::cold, CacheMode::hot}) {
    if (mode == to_string(candidate)) return candidate;
  }
  json.fail("expected 'cold' or 'hot'");
}

Workload read_workload(const JsonValue& json) {
  Workload workload;
  workload.op = json["workload"].text();
  workload.label = json["label"].text();
  workload.implementation = json.text_or("impl", "");
  workload.dtype = json["dtype"].word(parse_dtype, "dtype");
  for (const auto& [name, extent] : json["shape"].members()) workload.shape.set(name, extent.integer());
  workload.cache = read_cache_mode(json["cache"]);
  workload.seed = json["seed"].natural();
  return workload;
}

}  // namespace

void members(auto& io, TriedConfiguration& tried) {
  io.require([](const JsonValue& json) {
    if (!(json["time_s"].number() > 0)) json["time_s"].fail("a time has to be more than 0 s");
  });
  io("configuration", tried.configuration);
  io("time_s", tried.time_s);
}

Json point_to_json(const Point& point, const Machine& machine) {
  const Level memory = main_memory(machine.device.kind);
  const Workload& workload = point.workload;
  Json json = {{"workload", workload.op}, {"label", workload.label}};
  put_text(json, "family", point.family);
  put_text(json, "impl", workload.implementation);
  // A program's row has no implementation of ours: there the key is for where its figures are from.
  put_text(json, "impl_summary", point.profiled ? point.profiled->sources : point.implementation_summary);
  if (point.non_temporal_stores) json["non_temporal_stores"] = true;
  json["dtype"] = to_string(workload.dtype);
  json["shape"] = Json::object();
  for (const auto& [name, extent] : workload.shape.extents()) json["shape"][name] = extent;
  json["cache"] = to_string(workload.cache);
  json["seed"] = workload.seed;
  put_status(json, point);
  json["work"] = work_to_json(point.work);

  Json absent = Json::object();
  put_number(json, "arithmetic_intensity", arithmetic_intensity(point.work, memory));
  if (!json.contains("arithmetic_intensity")) {
    const std::string no_work = why_no_work(point);
    absent["arithmetic_intensity"] = no_work.empty() ? "no byte crosses " + std::string(to_string(memory)) : no_work;
  }
  if (point.time) {
    json["time_s"] = summary_to_json(*point.time);
    put_number(json, "performance_flops_per_s", point.performance());
    put_number(json, "bandwidth_bytes_per_s", point.bandwidth(memory));
    if (const auto network = network_rates(point)) {
      put_number(json, "algorithm_bandwidth_bytes_per_s", network->algorithm);
      put_number(json, "bus_bandwidth_bytes_per_s", network->bus);
    }
  }
  put_bound(json, point, absent);
  put_run(json, point);
  if (!point.experiments.empty()) json["experiments"] = experiments_to_json(point.experiments);
  if (!point.tried.empty()) json["tried"] = to_json_value(point.tried);
  if (point.profiled) json["profiled"] = profiled_to_json(point);
  if (point.counters) {
    json["counters"] = counters_to_json(*point.counters);
    json["counted"] = counted_to_json(*point.counters, memory);
  }
  if (not_cold(point, machine)) json["not_cold"] = true;
  if (!absent.empty()) json["absent"] = std::move(absent);
  const Json advice = advice_to_json(advice_for(point, machine));
  if (!advice.empty()) json["diagnosis"] = advice;
  return json;
}

Point read_point(const JsonValue& json) {
  Point point;
  static_cast<Outcome&>(point) = read_outcome(json);
  point.workload = read_workload(json);
  point.family = json.text_or("family", "");
  point.work = read_work(json["work"]);
  point.bound = read_bound(json, point.work);
  if (const auto counters = json.find("counters")) point.counters = read_counters(*counters);
  if (const auto experiments = json.find("experiments")) point.experiments = read_experiments(*experiments);
  if (const auto tried = json.find("tried")) point.tried = read_value<std::vector<TriedConfiguration>>(*tried);
  if (const auto profiled = json.find("profiled")) point.profiled = read_profiled(*profiled);
  (point.profiled ? point.profiled->sources : point.implementation_summary) = json.text_or("impl_summary", "");
  if (const auto stores = json.find("non_temporal_stores")) point.non_temporal_stores = stores->boolean();
  return point;
}

}  // namespace roofline
