// Times, verification, status: the keys are those of docs/report-schema.md.
#include "report/json/outcome_json.hpp"

#include "model/nan.hpp"
#include "report/json/contention_json.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

static auto vocabulary(StopReason) { return std::pair(&parse_stop_reason, "reason to stop"); }

static auto vocabulary(DType) { return std::pair(&parse_dtype, "data type"); }

void members(auto& io, OutputError& worst) {
  io("output", worst.output);
  io("dtype", worst.dtype);
  io.number_or("error", worst.error, kNaN);
  io("permitted", worst.permitted);
}

void members(auto& io, WorkBounds& work) {
  io("read_least", work.read_least);
  io("read_most", work.read_most);
  io("write_least", work.write_least);
  io("write_most", work.write_most);
  io.optional("flops_least", work.flops_least);
  io.optional("flops_most", work.flops_most);
  io.optional("integer_operations", work.integer_operations);
  io.positive("compound_operations", work.compound_operations);
}

void members(auto& io, ExecutedFlops& flops) {
  io("shape", flops.shape);
  io("stated", flops.stated);
  io("executed", flops.executed);
  io("least", flops.least);
  io("most", flops.most);
}

void members(auto& io, Verification& verification) {
  io.derived("status", status_of(verification));
  io.require([&](const JsonValue& json) {
    const JsonValue status = json["status"];
    verification.passed = status.text() == "pass" || status.text() == "unverified";
    if (!verification.passed && status.text() != "fail") status.fail("expected 'pass', 'fail' or 'unverified'");
  });
  io.number_or("error", verification.error, kNaN);
  io.number_or("tolerance", verification.tolerance, kNaN);
  io("reference", verification.reference);
  io("checked", verification.checked);
  io("outputs", verification.outputs);
  io.text("failure", verification.failure);
  io.unless_empty("worst", verification.worst);
  io.optional("work", verification.work);
  io.optional("executed", verification.executed);
  io.absent("error", "not a finite number");
}

struct Quantiles {
  Summary& time;
};
/// Times are of something that ran.
void require_times(const JsonValue& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const JsonValue time = json[key];
    if (!(time.number() > 0)) time.fail("a time has to be more than 0 s");
  }
}

void members(auto& io, Quantiles& of) {
  io.require([](const JsonValue& json) { require_times(json, {"min", "q05", "q25", "q75", "q95", "max"}); });
  io("min", of.time.min);
  io("q05", of.time.q05);
  io("q25", of.time.q25);
  io("q75", of.time.q75);
  io("q95", of.time.q95);
  io("max", of.time.max);
}

void members(auto& io, Summary& time) {
  io.require([](const JsonValue& json) {
    require_times(json, {"median"});
    if (const auto clock = json.find("clock_hz"); clock && !(clock->number() > 0))
      clock->fail("a clock has to be more than 0 Hz");
  });
  io("median", time.median);
  io.interval("ci95", time.ci95);
  io.absent("ci95", "too few samples for a 95 % interval");
  io("quantiles", Quantiles{time});
  io("samples", time.samples);
  io.number_or("effective_samples", time.effective_samples, kNaN);
  io.number_or("autocorrelation", time.autocorrelation, kNaN);
  io("launches_per_sample", time.launches_per_sample);
  io("settle_s", time.warm_up_s);
  io("drifting", time.drifting);
  io("stop", time.stop);
  io.optional("clock_hz", time.clock_hz);
}

void members(auto& io, PairedFraction& paired) {
  io.require([](const JsonValue& json) {
    const double fraction = json["fraction"].number();
    const std::vector<JsonValue> ends = json["ci95"].elements();
    if (!(fraction > 0)) json["fraction"].fail("a fraction has to be more than 0");
    if (ends.size() != 2 || !(ends[0].number() > 0 && ends[0].number() <= fraction && fraction <= ends[1].number()))
      json["ci95"].fail("expected [low, high] around the fraction, more than 0");
    if (json.number_or("probe_value", 1) <= 0) json["probe_value"].fail("a rate has to be more than 0");
    if (json["pairs"].integer() < kFewestForInterval) json["pairs"].fail("too few for a 95 % interval");
  });
  io("ceiling", paired.ceiling);
  io("fraction", paired.fraction);
  io.interval("ci95", paired.ci95);
  io("pairs", paired.pairs);
  io.number_or("probe_value", paired.probe_value, kNaN);
}

Json summary_to_json(const Summary& time) { return to_json_value(time); }

Json executed_flops_to_json(const ExecutedFlops& flops) { return to_json_value(flops); }

ExecutedFlops executed_flops_from_json(const Json& json) { return read_value<ExecutedFlops>(JsonValue(json)); }

void put_status(Json& json, const Outcome& outcome) {
  json["status"] = to_string(outcome.status);
  if (outcome.status != PointStatus::ok || !outcome.reason.empty()) json["reason"] = outcome.reason;
}

void put_run(Json& json, const Outcome& outcome) {
  if (outcome.verification) json["verification"] = to_json_value(*outcome.verification);
  json["buffer_sets"] = outcome.buffer_sets;
  json["resident_bytes"] = outcome.resident_bytes;
  if (outcome.contention) json["disturbed"] = to_json_value(*outcome.contention);
  if (outcome.reference_rates) json["pace"] = to_json_value(*outcome.reference_rates);
  if (outcome.paired) json["paired"] = to_json_value(*outcome.paired);
  if (outcome.attempts > 1) json["attempts"] = outcome.attempts;
  if (!outcome.raw_samples.empty()) json["samples_s"] = outcome.raw_samples;
}

Outcome read_outcome(const JsonValue& json) {
  Outcome outcome;
  outcome.status = json["status"].word(parse_point_status, "status");
  outcome.reason = outcome.status == PointStatus::ok ? json.text_or("reason", "") : json["reason"].text();
  JsonReader io{json};
  io.optional("verification", outcome.verification);
  if (outcome.status == PointStatus::ok) {
    outcome.time = read_value<Summary>(json["time_s"]);
  } else if (const auto time = json.find("time_s")) {
    time->fail("only a result whose status is 'ok' has a time");
  }
  io.since("samples_s", outcome.raw_samples);
  io("buffer_sets", outcome.buffer_sets);
  io("resident_bytes", outcome.resident_bytes);
  io.optional("disturbed", outcome.contention);
  io.optional("pace", outcome.reference_rates);
  io.optional("paired", outcome.paired);
  io.since("attempts", outcome.attempts);
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
