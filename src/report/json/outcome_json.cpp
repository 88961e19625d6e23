// Times, verification, status: the keys are those of docs/report-schema.md.
#include "report/json/outcome_json.hpp"

#include <limits>

#include "report/json/disturbance_json.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Json verification_to_json(const Verification& verification) {
  Json json = {{"status", verification.passed ? "pass" : "fail"}};
  put_number(json, "error", verification.error);
  put_number(json, "tolerance", verification.tolerance);
  json["reference"] = verification.reference;
  json["checked"] = verification.checked;
  json["outputs"] = verification.outputs;
  put_text(json, "failure", verification.failure);
  if (!json.contains("error")) json["absent"] = {{"error", "not a finite number"}};
  return json;
}

Summary read_summary(const JsonValue& json) {
  Summary time;
  time.median = json["median"].number();
  time.ci95 = json.optional_interval("ci95");
  const JsonValue quantiles = json["quantiles"];
  time.min = quantiles["min"].number();
  time.q05 = quantiles["q05"].number();
  time.q25 = quantiles["q25"].number();
  time.q75 = quantiles["q75"].number();
  time.q95 = quantiles["q95"].number();
  time.max = quantiles["max"].number();
  time.samples = json["samples"].integer();
  time.effective_samples = json.number_or("effective_samples", kNaN);
  time.autocorrelation = json.number_or("autocorrelation", kNaN);
  time.launches_per_sample = json["launches_per_sample"].integer();
  time.settle_s = json["settle_s"].number();
  time.drifting = json["drifting"].boolean();
  time.stop = json["stop"].word(parse_stop_reason, "reason to stop");
  time.clock_hz = json.optional_number("clock_hz");
  return time;
}

Verification read_verification(const JsonValue& json) {
  Verification verification;
  const JsonValue status = json["status"];
  verification.passed = status.text() == "pass";
  if (!verification.passed && status.text() != "fail") status.fail("expected 'pass' or 'fail'");
  verification.error = json.number_or("error", kNaN);
  verification.tolerance = json.number_or("tolerance", kNaN);
  verification.reference = json["reference"].text();
  verification.checked = json["checked"].integer();
  verification.outputs = json["outputs"].integer();
  verification.failure = json.text_or("failure", "");
  return verification;
}

}  // namespace

Json summary_to_json(const Summary& time) {
  Json json = Json::object();
  put_number(json, "median", time.median);
  put_interval(json, "ci95", time.ci95);
  if (!json.contains("ci95")) json["absent"] = {{"ci95", "too few samples for a 95 % interval"}};
  Json quantiles = Json::object();
  put_number(quantiles, "min", time.min);
  put_number(quantiles, "q05", time.q05);
  put_number(quantiles, "q25", time.q25);
  put_number(quantiles, "q75", time.q75);
  put_number(quantiles, "q95", time.q95);
  put_number(quantiles, "max", time.max);
  json["quantiles"] = std::move(quantiles);
  json["samples"] = time.samples;
  put_number(json, "effective_samples", time.effective_samples);
  put_number(json, "autocorrelation", time.autocorrelation);
  json["launches_per_sample"] = time.launches_per_sample;
  put_number(json, "settle_s", time.settle_s);
  json["drifting"] = time.drifting;
  json["stop"] = to_string(time.stop);
  if (time.clock_hz) put_number(json, "clock_hz", *time.clock_hz);
  return json;
}

void put_status(Json& json, const Outcome& outcome) {
  json["status"] = to_string(outcome.status);
  if (outcome.status != PointStatus::ok || !outcome.reason.empty()) json["reason"] = outcome.reason;
}

void put_run(Json& json, const Outcome& outcome) {
  if (outcome.verification) json["verification"] = verification_to_json(*outcome.verification);
  json["buffer_sets"] = outcome.buffer_sets;
  json["resident_bytes"] = outcome.resident_bytes;
  if (outcome.disturbed) json["disturbed"] = disturbance_to_json(*outcome.disturbed);
  if (outcome.pace) json["pace"] = pace_to_json(*outcome.pace);
  if (outcome.attempts > 1) json["attempts"] = outcome.attempts;
  if (!outcome.raw_samples.empty()) json["samples_s"] = outcome.raw_samples;
}

Outcome read_outcome(const JsonValue& json) {
  Outcome outcome;
  outcome.status = json["status"].word(parse_point_status, "status");
  outcome.reason = outcome.status == PointStatus::ok ? json.text_or("reason", "") : json["reason"].text();
  if (const auto verification = json.find("verification")) outcome.verification = read_verification(*verification);
  if (outcome.status == PointStatus::ok) {
    outcome.time = read_summary(json["time_s"]);
  } else if (const auto time = json.find("time_s")) {
    time->fail("only a result whose status is 'ok' has a time");
  }
  if (const auto samples = json.find("samples_s")) outcome.raw_samples = samples->numbers();
  outcome.buffer_sets = json["buffer_sets"].integer();
  outcome.resident_bytes = json["resident_bytes"].number();
  if (const auto seen = json.find("disturbed")) outcome.disturbed = read_disturbance(*seen);
  if (const auto pace = json.find("pace")) outcome.pace = read_pace(*pace);
  if (const auto attempts = json.find("attempts")) outcome.attempts = static_cast<int>(attempts->integer());
  return outcome;
}

Json outcome_to_json(const Outcome& outcome) {
  Json json = Json::object();
  put_status(json, outcome);
  if (outcome.time) json["time_s"] = summary_to_json(*outcome.time);
  put_run(json, outcome);
  return json;
}

Outcome outcome_from_json(const Json& json) { return read_outcome(JsonValue(json)); }

}  // namespace roofline
