// Experiments of a row: the keys are those of docs/report-schema.md.
#include "report/json/json.hpp"
#include "report/json/json_members.hpp"
#include "report/json/json_read.hpp"

namespace roofline {

using Json = nlohmann::ordered_json;

static auto vocabulary(ExperimentKind) { return std::pair(&parse_experiment_kind, "kind of experiment"); }

void members(auto& io, Experiment& experiment) {
  io("kind", experiment.kind);
  io.text("variant", experiment.variant);
  io.require([](const JsonValue& json) {
    if (!(json["ratio"].number() >= 0)) json["ratio"].fail("a ratio has to be 0 or more");
  });
  io("ratio", experiment.ratio);
  io.interval("ci95", experiment.ci95);
  io.positive("count", experiment.count);
  io.text("compiler_remark", experiment.remark);
  io.absent("ci95", "too few samples for a 95 % interval, or counted");
}

Json experiments_to_json(const std::vector<Experiment>& experiments) { return to_json_value(experiments); }

std::vector<Experiment> read_experiments(const JsonValue& json) { return read_value<std::vector<Experiment>>(json); }

std::vector<Experiment> experiments_from_json(const Json& json) { return read_experiments(JsonValue(json)); }

}  // namespace roofline
