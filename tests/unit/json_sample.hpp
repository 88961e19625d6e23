// A report with one row of every kind, for tests: an ok row, a failed one whose error is NaN, a skipped
// one, and ceilings with and without an interval. Its figures are invented.
#pragma once

#include <cmath>
#include <limits>

#include "report/report.hpp"

namespace roofline {

inline Ceiling sample_ceiling(std::string name, double value) {
  Ceiling ceiling;
  ceiling.name = std::move(name);
  ceiling.value = value;
  ceiling.ci95 = {0.99 * value, 1.01 * value};
  ceiling.origin = "probe";
  ceiling.variant = "avx2, 2 threads";
  ceiling.audit.checks = {{"work doubles time", CheckStatus::pass, "1.998 x"}};
  ceiling.clocks.core_hz = 2.45e9;
  ceiling.samples = 64;
  ceiling.stop = "converged";
  return ceiling;
}

inline Machine sample_machine() {
  Machine machine;
  machine.device.kind = DeviceKind::cpu;
  machine.device.name = "Some \"CPU\" é";
  machine.device.identity = "some-cpu-2t";
  machine.device.units = 2;
  machine.device.memory_bytes = 16.0 * (1 << 30);
  machine.device.caches = {{Level::l1, 32768, 2}, {Level::l3, 33554432, 1}};
  machine.device.max_core_hz = 3.5e9;
  machine.device.isa = "avx2";
  machine.device.attributes = {{"cores", "2"}, {"cores", "twice"}};

  Ceiling read = sample_ceiling("dram.read", 1e10 / 3);
  read.level = Level::dram;
  read.pattern = Pattern::read;
  read.median_rate = 1e10 / 7;
  read.past_best = PastBest{1e10 / 3, "2026-11-23T19:46:50Z", 3.1e9};
  read.rounds = 12;
  read.agreeing_rounds = 5;
  read.limit = Limit{.value = 4e10, .basis = "2 x 2500 MHz x 64 bit"};
  Ceiling copy = sample_ceiling("dram.copy", 3e9);
  copy.level = Level::dram;
  copy.pattern = Pattern::copy;
  copy.ci95 = {};
  copy.audit.checks.push_back({"working set", CheckStatus::fail, "fits the cache"});
  Ceiling fp32 = sample_ceiling("fp32", 1e11);
  fp32.kind = CeilingKind::compute;
  fp32.pipe = Pipe::fp32;
  fp32.regime = Regime::sustained;
  Ceiling launch = sample_ceiling("launch.pool", 2e5);
  launch.kind = CeilingKind::overhead;
  launch.audit.checks.clear();
  Ceiling burst = sample_ceiling("fp32", 1.2e11);
  burst.kind = CeilingKind::compute;
  burst.pipe = Pipe::fp32;
  burst.instruction = "FFMA";
  burst.amount = 3e9;
  fp32.power = {.watts = 92.5, .joules_per_unit = 9.2e-10, .temperature_c = 71, .seconds = 2.1, .limiter = "thermal"};
  Ceiling latency = sample_ceiling("latency.dram", 1e7);
  latency.kind = CeilingKind::latency;
  latency.level = Level::dram;
  latency.role = Role::reference;
  latency.below_peak = "one thread";
  latency.contention = {
      .wall_s = 0.5, .cpus = 2, .cores = 1, .others_s = 0.1 / 3, .stolen_s = 0.25, .worst_cpu_s = 0.2};
  machine.ceilings = {read, copy, burst, fp32, launch, latency};
  Sweep sweep;
  sweep.name = "sweep.read";
  sweep.variant = "2 threads";
  sweep.points = {{.x = 16384, .value = 1e11, .ci95 = {0.9e11, 1.1e11}}, {.x = 1e8, .value = 1e10 / 3, .ci95 = {}}};
  sweep.plateaus = {{.from = 16384, .to = 20000, .value = 1e11}};
  sweep.boundaries = {1e6 / 3};
  Sweep scaling;
  scaling.name = "scaling.dram.read";
  scaling.axis = SweepAxis::threads;
  scaling.saturates_at = 2;
  machine.sweeps = {sweep, scaling};
  machine.idle_watts = 40.25;
  machine.time_s = 62.5;
  machine.unmeasured = {{"fp16", "no such pipe"}};
  machine.measured_at = "2031-05-04T03:02:01Z";
  machine.tool_version = "0.1.0";
  machine.host = "Linux 6.1";
  return machine;
}

inline Point sample_ok_point(const Machine& machine) {
  Point point;
  point.workload = {.op = "relu",
                    .implementation = "vectorized",
                    .dtype = DType::fp32,
                    .shape = {{"n", 1000003}},
                    .cache = CacheMode::hot,
                    .seed = 9007199254740991,
                    .label = "relu fp32 1000003"};
  point.contention = {.wall_s = 1.5,
                      .cpus = 2,
                      .cores = 2,
                      .others_s = 1.1,
                      .stolen_s = 0.1 / 3,
                      .worst_cpu_s = 0.75,
                      .waited_s = 0.5,
                      .throttled_s = 0.125,
                      .preemptions = 77};
  point.reference_rates = {.copy = 1.0 / 3.0, .arithmetic = 0.98};
  point.attempts = 2;
  point.family = "elementwise";
  point.implementation_summary = "all threads";
  point.work.flops[Pipe::fp32] = 1000003;
  point.work.uncounted[Pipe::int32] = 0.1;
  point.work.bytes[Level::dram] = {.read = 4000012, .write = 4000012};
  point.bound = bound_of(point.work, machine);
  point.paired = PairedFraction{.ceiling = point.bound.limiting_ceiling,
                                .fraction = 1.0 / 1.1,
                                .ci95 = {0.9, 1.0 / 1.05},
                                .pairs = 37,
                                .probe_value = 1e9 / 3.0};
  point.tried = {{"STEP=4", 1.0 / 300.0}, {"STEP=16", 1.0 / 270.0}};
  point.verification = Verification{.passed = true,
                                    .error = 1.0 / 3.0,
                                    .tolerance = 0.5,
                                    .checked = 4096,
                                    .outputs = 1000003,
                                    .reference = "fp64 on the CPU",
                                    .failure = ""};
  Summary time;
  time.median = 1.0 / 300.0;
  time.ci95 = {1.0 / 301.0, 1.0 / 299.0};
  time.min = 0.003;
  time.q05 = 0.0031;
  time.q25 = 0.0032;
  time.q75 = 0.0034;
  time.q95 = 0.0035;
  time.max = 0.1;
  time.samples = 48;
  time.effective_samples = 31.7;
  time.autocorrelation = -0.01;
  time.launches_per_sample = 3;
  time.warm_up_s = 0.3;
  time.stop = StopReason::time_limit;
  time.clock_hz = 2.4e9;
  point.time = time;
  point.raw_samples = {0.1, 0.2, 1e-300, 0.30000000000000004};
  point.buffer_sets = 7;
  point.resident_bytes = 5.6e7;
  return point;
}

inline Report sample_report() {
  Report report;
  report.machine = sample_machine();
  report.invocation = {.command = {"roofline", "analyze", "a b.yaml"},
                       .run_name = "ops",
                       .suite_path = "a b.yaml",
                       .suite_text = "name: ops\n# </script> \"quoted\"\n",
                       .tool_version = "0.1.0",
                       .started_at = "2031-05-04T03:02:01Z",
                       .duration_s = 1.5};
  report.points.push_back(sample_ok_point(report.machine));

  Point failed = report.points.front();
  failed.status = PointStatus::failed;
  failed.reason = "output 3 is NaN";
  failed.time.reset();
  failed.raw_samples.clear();
  failed.verification->passed = false;
  failed.verification->error = std::numeric_limits<double>::quiet_NaN();
  failed.verification->failure = "output 3 is NaN, expected 0.5";
  report.points.push_back(failed);

  Point skipped;
  skipped.workload = {.op = "gemm",
                      .implementation = "",
                      .dtype = DType::fp16,
                      .shape = {{"m", 2}, {"k", 1}, {"a", 5}},
                      .cache = CacheMode::cold,
                      .seed = 1,
                      .label = "gemm fp16"};
  skipped.status = PointStatus::skipped;
  skipped.reason = "gemm has no fp16 implementation on cpu (has: fp32)";
  skipped.work.flops[Pipe::tensor_fp16] = 20;
  skipped.work.launches = 0;
  skipped.bound = bound_of(skipped.work, report.machine);
  report.points.push_back(skipped);

  report.notes = {"the calibration is 40 days old"};
  report.cancelled = true;
  return report;
}

}  // namespace roofline
