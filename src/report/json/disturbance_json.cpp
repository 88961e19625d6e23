// The sentence is written for people and made anew on reading; the figures are what it follows from.
#include "report/json/disturbance_json.hpp"

namespace roofline {

nlohmann::ordered_json disturbance_to_json(const Disturbance& seen) {
  return {{"because", describe(seen)},
          {"wall_s", seen.wall_s},
          {"cpus", seen.cpus},
          {"cores", seen.cores},
          {"others_s", seen.others_s},
          {"stolen_s", seen.stolen_s},
          {"worst_cpu_s", seen.worst_cpu_s},
          {"waited_s", seen.waited_s},
          {"throttled_s", seen.throttled_s},
          {"preemptions", seen.preemptions}};
}

Disturbance read_disturbance(const JsonValue& json) {
  return {.wall_s = json["wall_s"].number(),
          .cpus = json["cpus"].integer(),
          .cores = json["cores"].integer(),
          .others_s = json["others_s"].number(),
          .stolen_s = json["stolen_s"].number(),
          .worst_cpu_s = json["worst_cpu_s"].number(),
          .waited_s = json["waited_s"].number(),
          .throttled_s = json["throttled_s"].number(),
          .preemptions = json["preemptions"].integer()};
}

nlohmann::ordered_json pace_to_json(const Pace& pace) { return {{"copy", pace.copy}, {"arithmetic", pace.arithmetic}}; }

Pace read_pace(const JsonValue& json) {
  return {.copy = json["copy"].number(), .arithmetic = json["arithmetic"].number()};
}

}  // namespace roofline
