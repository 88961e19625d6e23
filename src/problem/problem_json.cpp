#include "problem/problem_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace roofline {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kNoRoof = "the machine has no roof for it";

void add_time(OrderedJson& json, const char* key, double value) {
  if (std::isfinite(value)) {
    json[key] = value;
  } else {
    json["absent"][key] = kNoRoof;
  }
}

OrderedJson work_json(const Work& work) {
  OrderedJson json = {{"flops", OrderedJson::object()}, {"bytes", OrderedJson::object()}};
  for (const auto& [pipe, count] : work.flops) json["flops"][std::string(to_string(pipe))] = count;
  for (const auto& [level, traffic] : work.bytes) {
    json["bytes"][std::string(to_string(level))] = {{"read", traffic.read}, {"write", traffic.write}};
  }
  return json;
}

OrderedJson part_json(const PartBound& part) {
  OrderedJson json = {{"name", part.part.name}, {"launches", part.part.times}};
  json.update(work_json(part.part.work));
  json["bound"] = to_string(part.bound.label);
  json["limiting_ceiling"] = part.bound.limiting_ceiling;
  add_time(json, "time_s", part.time_s);
  if (const std::optional<Score> score = part.score()) {
    json["measured_s"] = *part.measured_s;
    if (std::isfinite(score->share)) json["share"] = score->share;
  }
  return json;
}

OrderedJson phase_json(const PhaseBound& phase) {
  OrderedJson json = {{"name", phase.name}, {"tokens", phase.tokens}};
  add_time(json, "least_s", phase.least_s);
  add_time(json, "by_op_s", phase.by_op_s);
  if (phase.messages_s) json["messages_s"] = *phase.messages_s;
  if (phase.fused) {
    json["bound"] = to_string(phase.fused->label);
    json["limiting_ceiling"] = phase.fused->limiting_ceiling;
  }
  if (phase.fused_work) json["fused"] = work_json(*phase.fused_work);
  json["parts"] = OrderedJson::array();
  for (const PartBound& part : phase.parts) json["parts"].push_back(part_json(part));
  return json;
}

}  // namespace

OrderedJson problem_to_json(const ProblemBound& problem, const Machine& machine) {
  OrderedJson json = {{"schema", kBoundSchema},
                      {"problem", problem.name},
                      {"machine", {{"name", machine.device.name}, {"identity", machine.device.identity}}},
                      {"notes", problem.notes}};
  if (problem.memory) {
    json["memory"] = {{"weights_bytes", problem.memory->weights},
                      {"cache_bytes", problem.memory->cache},
                      {"cache_bytes_per_sequence", problem.cache_per_sequence}};
    if (machine.device.memory_bytes > 0) json["memory"]["device_bytes"] = machine.device.memory_bytes;
  }
  json["phases"] = OrderedJson::array();
  for (const PhaseBound& phase : problem.phases) json["phases"].push_back(phase_json(phase));
  return json;
}

}  // namespace roofline
