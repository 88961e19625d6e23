#include "report/json/program_change_json.hpp"

#include "report/json/json_members.hpp"
#include "report/profile_findings.hpp"

namespace roofline {

void members(auto& io, CostTime& time) {
  io("seconds", time.seconds);
  io.interval("ci95", time.ci95);
}

void members(auto& io, TimeChange& time) {
  io("before", time.before);
  io("now", time.now);
  io("ratio", time.ratio);
  io.interval("ratio_ci95", time.ratio_ci95);
  io("change", time.change);
  io("interval_covers", time.basis);
}

void members(auto& io, PartChange& part) {
  io("part", part.part);
  io("before_s", part.before_s);
  io("now_s", part.now_s);
}

void put_costs(auto& io, auto& change) {
  io("before_s", change.before_s);
  io("now_s", change.now_s);
  io("change", change.change);
}

/// The line before, where the cause has moved.
void put_lines(auto& io, auto& change) {
  io.text("line", change.cause.line);
  io.text("line_before", change.line_before == change.cause.line ? std::string() : change.line_before);
}

void members(auto& io, CauseChange& cause) {
  io("kind", cause.cause.kind);
  io.optional("cause", cause.cause.cause);
  put_lines(io, cause);
  io.text("kernel", cause.cause.kernel);
  io.text("what", cause.cause.what);
  put_costs(io, cause);
}

void members(auto& io, KernelChange& kernel) {
  io("kernel", kernel.name);
  io("launches_before", kernel.launches_before);
  io("launches_now", kernel.launches_now);
  put_costs(io, kernel);
}

void members(auto& io, HostCauseChange& cause) {
  io("cause", cause.cause.id);
  put_lines(io, cause);
  io.text("what", cause.cause.what);
  put_costs(io, cause);
}

void members(auto& io, FunctionChange& function) {
  io("function", function.name);
  put_costs(io, function);
}

void members(auto& io, StartUpChange& part) {
  io("part", part.part);
  io("before_s", part.before_s);
  io("now_s", part.now_s);
}

/// Facts of one side that the changes do not contain.
void members(auto& io, ProgramCost& cost) {
  io("gpus", cost.gpus);
  io.positive("steps", cost.steps);
  io("slow_s", cost.slow_s);
  io("slowest_s", cost.slowest_s);
  io("start_up_s", cost.start_up_s);
}

nlohmann::ordered_json program_change_to_json(const ProgramChange& change) {
  JsonWriter io;
  io("unit", change.unit);
  io("before", change.before);
  io("now", change.now);
  if (change.typical.known()) io("typical", change.typical);
  if (change.unit == CostUnit::step) io("unrecorded", change.unrecorded);
  if (change.mean.known()) io("mean", change.mean);
  io("parts", change.parts);
  if (change.of_host) io("host_causes", change.host_causes);
  if (change.of_host) io("functions", change.functions);
  if (change.before.has_causes && change.now.has_causes) io("causes", change.causes);
  if (change.before.has_kernels && change.now.has_kernels) io("kernels", change.kernels);
  if (change.unit == CostUnit::step) io("start_up", change.start_up);
  return std::move(io.json);
}

}  // namespace roofline
