#include "report/json/steps_json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

Json start_up_to_json(const StartUpShare& share) {
  return {{"part", to_string(share.part)}, {"seconds", share.seconds}};
}

StartUpShare read_start_up(const JsonValue& json) {
  return {.part = json["part"].word(parse_start_up_part, "part of the start-up"),
          .seconds = read_seconds(json["seconds"])};
}

Json slow_to_json(const SlowStep& step) {
  Json json = {{"step", step.number}, {"seconds", step.seconds}};
  put_text(json, "different", step.different);
  if (step.apart) json["apart"] = true;
  return json;
}

SlowStep read_slow(const JsonValue& json) {
  const auto apart = json.find("apart");
  return {.number = json["step"].integer(),
          .seconds = read_seconds(json["seconds"]),
          .different = json.text_or("different", ""),
          .apart = apart && apart->boolean()};
}

}  // namespace

Json wall_to_json(const WallTime& wall) {
  Json json = {{"device", wall.device},
               {"name", wall.device_name},
               {"wall_s", wall.wall_s},
               {"before_s", wall.before_s},
               {"kernels_s", wall.kernels_s},
               {"copies_s", wall.copies_s},
               {"counting_s", wall.counting_s},
               {"idle_launching_s", wall.idle_launching_s},
               {"idle_waiting_s", wall.idle_waiting_s},
               {"idle_elsewhere_s", wall.idle_elsewhere_s},
               {"after_s", wall.after_s},
               {"kernel_s", wall.kernel_s},
               {"roofed_s", wall.roofed_s},
               {"at_roof_s", wall.at_roof_s}};
  if (wall.rank_wait_s > 0) json["rank_wait_s"] = wall.rank_wait_s;
  if (wall.communication_s > 0) json["communication_s"] = wall.communication_s;
  if (wall.recording_s > 0) json["recording_s"] = wall.recording_s;
  if (wall.idle_unknown_s > 0) json["idle_unknown_s"] = wall.idle_unknown_s;
  return json;
}

WallTime read_wall(const JsonValue& json) {
  return {.device = read_int(json["device"]),
          .device_name = json["name"].text(),
          .wall_s = read_seconds(json["wall_s"]),
          .before_s = json["before_s"].number(),
          .kernels_s = read_seconds(json["kernels_s"]),
          .rank_wait_s = json.optional_number("rank_wait_s").value_or(0),
          .communication_s = json.optional_number("communication_s").value_or(0),
          .copies_s = read_seconds(json["copies_s"]),
          .counting_s = json["counting_s"].number(),
          .recording_s = json.optional_number("recording_s").value_or(0),
          .idle_launching_s = json["idle_launching_s"].number(),
          .idle_waiting_s = json["idle_waiting_s"].number(),
          .idle_elsewhere_s = json["idle_elsewhere_s"].number(),
          .idle_unknown_s = json.optional_number("idle_unknown_s").value_or(0),
          .after_s = json["after_s"].number(),
          .kernel_s = json.optional_number("kernel_s").value_or(0),
          .roofed_s = json.optional_number("roofed_s").value_or(0),
          .at_roof_s = json.optional_number("at_roof_s").value_or(0)};
}

Json steps_to_json(const Steps& steps) {
  Json json = {{"source", to_string(steps.source)},
               {"count", steps.count},
               {"median_s", steps.median_s},
               {"low_s", steps.low_s},
               {"high_s", steps.high_s},
               {"total_s", steps.total_s},
               {"start_up_s", steps.start_up_s},
               {"tear_down_s", steps.tear_down_s},
               {"start_up", list_to_json(steps.start_up, start_up_to_json)},
               {"at_roof_s", steps.at_roof_s},
               {"launches", steps.launches}};
  put_interval(json, "ci95", steps.ci95);
  put_interval(json, "mean_ci95", steps.mean_ci95);
  if (steps.untouched_s) json["untouched_s"] = *steps.untouched_s;
  put_interval(json, "untouched_ci95", steps.untouched_ci95);
  json["devices"] = list_to_json(steps.devices, wall_to_json);
  json["slow"] = list_to_json(steps.slow, slow_to_json);
  return json;
}

Steps read_steps(const JsonValue& json) {
  Steps steps{.source = json["source"].word(parse_step_source, "source of steps"),
              .count = json["count"].integer(),
              .median_s = read_seconds(json["median_s"]),
              .low_s = read_seconds(json["low_s"]),
              .high_s = read_seconds(json["high_s"]),
              .ci95 = json.optional_interval("ci95"),
              .total_s = read_seconds(json["total_s"]),
              .mean_ci95 = json.optional_interval("mean_ci95"),
              .start_up_s = read_seconds(json["start_up_s"]),
              .tear_down_s = read_seconds(json["tear_down_s"]),
              .start_up = read_list(json["start_up"], read_start_up),
              .at_roof_s = read_seconds(json["at_roof_s"]),
              .launches = json["launches"].number(),
              .untouched_s = json.optional_number("untouched_s"),
              .untouched_ci95 = json.optional_interval("untouched_ci95"),
              .devices = read_list(json["devices"], read_wall),
              .slow = read_list(json["slow"], read_slow)};
  if (steps.count < 1) json["count"].fail("there is at least one step");
  return steps;
}

}  // namespace roofline
