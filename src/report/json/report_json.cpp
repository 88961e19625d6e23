// report.json: a run's points to and from JSON. Stored values are written and read back as they are;
// derived ones (performance, bandwidth, fraction of the roof) are written for other programs and
// recomputed on reading. The keys are those of docs/report-schema.md.

#include <fmt/format.h>

#include "model/nan.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/json/counters_json.hpp"
#include "report/json/json.hpp"
#include "report/json/json_read.hpp"
#include "report/json/machine_members.hpp"
#include "report/json/outcome_json.hpp"
#include "report/json/profile_json.hpp"
#include "report/network.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"
#include "text/text.hpp"

namespace roofline {
void members(auto& io, Traffic& traffic) {
  const auto all = [&traffic](const JsonValue& json) {
    traffic.unsplit = json.find("unsplit").has_value();
    traffic.read = json[traffic.unsplit ? "unsplit" : "read"].number();
    traffic.write = traffic.unsplit ? 0 : json["write"].number();
  };
  io.when(!traffic.unsplit, "read", traffic.read);
  io.when(!traffic.unsplit, "write", traffic.write);
  io.when(traffic.unsplit, "unsplit", traffic.read);
  io.require(all);
  io.positive("in_place", traffic.in_place);
}

void members(auto& io, Collective& collective) {
  io("name", collective.name);
  io("ranks", collective.ranks);
}

/// Bytes by level, for other programs; checked against the traffic on reading.
struct LevelTotals {
  const Work& work;
};
static nlohmann::ordered_json json_of(const LevelTotals& of) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [level, traffic] : of.work.bytes) json[std::string(to_string(level))] = traffic.total();
  return json;
}
static void read_json(const JsonValue&, const LevelTotals&) {}

static void check_totals(const JsonValue& json, const Work& work) {
  for (const auto& [name, bytes] : json.members()) {
    const std::optional<Level> level = parse_level(name);
    if (!level || !work.bytes.contains(*level)) bytes.fail("has no counterpart under traffic");
    if (bytes.number() != work.bytes.at(*level).total()) bytes.fail("is not the sum of its traffic");
  }
}

void members(auto& io, Work& work) {
  io("flops", work.flops);
  io("uncounted", work.uncounted);
  io("bytes", LevelTotals{work});
  io("traffic", work.bytes);
  io.require([&](const JsonValue& json) { check_totals(json["bytes"], work); });
  io.when(work.extra.total() > 0, "extra", work.extra);
  io("launches", work.launches);
  io.optional("collective", work.collective);
  io.positive("threads", work.threads);
  io.optional("cache", work.cache);
  io.optional("write_only", work.write_only);
}

/// Files of version 0.1 have no regime.
void members(auto& io, ResourceTime& resource) {
  io("ceiling", resource.ceiling);
  io("kind", resource.kind);
  io("amount", resource.amount);
  io.number_or("time_s", resource.time_s, kNaN);
  io.interval("ci95", resource.ci95);
  io.since("regime", resource.regime);
  io.optional("at_clock_hz", resource.at_clock_hz);
  io.optional("mixed_with", resource.mixed_with);
  io.absent("time_s", "no ceiling was measured for it");
}

namespace {

using Json = nlohmann::ordered_json;

/// Derived from the counters: FLOPs by pipe, bytes by level.
Json counted_to_json(const Counters& counters, Level memory) {
  Json json = {{"flops", to_json_value(counted_flops(counters))}};
  json["bytes"] = Json::object();
  for (const Level level : {memory, Level::l3, Level::l2, Level::l1, Level::shared}) {
    if (const auto bytes = counted_bytes(counters, level)) json["bytes"][std::string(to_string(level))] = *bytes;
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
    const std::string missing = missing_roof(bound);
    absent["bound"] = !no_work.empty()   ? no_work
                      : !missing.empty() ? fmt::format("no ceiling was measured for {}", missing)
                                         : "no ceiling was measured for any resource of this work";
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
  put_text(json, "why_above_roof", point.profiled ? point.profiled->why_above_roof : "");
  json["resources"] = to_json_value(bound.resources);
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
  read_into(json["resources"], bound.resources);
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
  json["work"] = to_json_value(point.work);

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
  const std::vector<Advice> advice = advice_for(point, machine);
  if (!advice.empty()) json["diagnosis"] = advice_to_json(advice);
  if (const auto decides = deciding(advice, point, machine); decides != advice.end()) json["verdict"] = decides->rule;
  return json;
}

Point read_point(const JsonValue& json) {
  Point point;
  static_cast<Outcome&>(point) = read_outcome(json);
  point.workload = read_workload(json);
  point.family = json.text_or("family", "");
  point.work = read_value<Work>(json["work"]);
  point.bound = read_bound(json, point.work);
  if (const auto counters = json.find("counters")) point.counters = read_counters(*counters);
  if (const auto experiments = json.find("experiments")) point.experiments = read_experiments(*experiments);
  if (const auto tried = json.find("tried")) point.tried = read_value<std::vector<TriedConfiguration>>(*tried);
  if (const auto profiled = json.find("profiled")) point.profiled = read_profiled(*profiled);
  (point.profiled ? point.profiled->sources : point.implementation_summary) = json.text_or("impl_summary", "");
  if (point.profiled) point.profiled->why_above_roof = clean_line(json.text_or("why_above_roof", ""));
  if (const auto stores = json.find("non_temporal_stores")) point.non_temporal_stores = stores->boolean();
  return point;
}

}  // namespace roofline
