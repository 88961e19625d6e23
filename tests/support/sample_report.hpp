// Made-up but plausible reports for the renderers' tests: an H200 with the standard suite, a small CPU,
// and any number of random points. Bounds come from bound_of, so the numbers hang together. Nothing here
// was measured by the test.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace roofline::example {

inline Audit passed(const std::string& check) { return {{{check, CheckStatus::pass, "within 2 %"}}}; }

inline Ceiling ceiling(const std::string& name, double value, double limit, const std::string& basis) {
  Ceiling c;
  c.name = name;
  c.value = value;
  c.ci95 = {value * 0.998, value * 1.002};
  c.origin = "probe";
  c.variant = "best of 12 variants";
  if (limit > 0) c.limit = Limit{limit, basis};
  c.audit = passed("doubling the work doubles the time");
  c.clocks.core_hz = 1.98e9;
  c.samples = 64;
  c.stop = "converged";
  return c;
}

inline Ceiling bandwidth(Level level, Pattern pattern, double value, double limit = 0, const std::string& basis = {}) {
  Ceiling c = ceiling(std::string(to_string(level)) + "." + std::string(to_string(pattern)), value, limit, basis);
  c.kind = CeilingKind::bandwidth;
  c.level = level;
  c.pattern = pattern;
  return c;
}

inline Ceiling compute(Pipe pipe, double value, double limit = 0, const std::string& basis = {}) {
  Ceiling c = ceiling(std::string(to_string(pipe)), value, limit, basis);
  c.kind = CeilingKind::compute;
  c.pipe = pipe;
  return c;
}

inline Ceiling overhead(const std::string& name, double launches_per_s) {
  Ceiling c = ceiling(name, launches_per_s, 0, {});
  c.kind = CeilingKind::overhead;
  return c;
}

/// A summary whose samples lie evenly around `median` (seconds), converged.
inline Summary timed(double median, double relative_half_width = 0.002) {
  Summary s;
  s.median = median;
  s.ci95 = {median * (1 - relative_half_width), median * (1 + relative_half_width)};
  s.min = median * 0.99;
  s.q05 = median * 0.993;
  s.q25 = median * 0.997;
  s.q75 = median * 1.003;
  s.q95 = median * 1.008;
  s.max = median * 1.02;
  s.samples = 64;
  s.effective_samples = 60;
  s.autocorrelation = 0.03;
  s.launches_per_sample = 8;
  s.warm_up_s = 0.3;
  s.clock_hz = 1.965e9;
  return s;
}

/// Leaves nothing to be concluded of a time: no interval, and samples that lie far apart.
inline void scatter(Summary& time) {
  time.ci95 = {};
  time.q95 = 1.2 * time.median;
}

/// A sustained roof, references, a sweep: what tables list and charts leave out.
inline void add_what_no_kernel_is_drawn_under(Machine& m) {
  Ceiling sustained = compute(Pipe::tensor_bf16, 650e12, 713e12, "132 SMs x 1318 MHz x 4096 FLOP");
  sustained.regime = Regime::sustained;
  sustained.instruction = "HGMMA 64x256x16";
  sustained.clocks.core_hz = 1.318e9;
  sustained.power = {
      .watts = 692, .joules_per_unit = 1.06e-12, .temperature_c = 61, .seconds = 2, .limiter = "power cap"};
  Ceiling older = compute(Pipe::tensor_bf16, 640e12);
  older.name = "tensor.bf16.mma_sync";
  older.role = Role::reference;
  older.below_peak = "mma.sync reaches two thirds of the wgmma rate";
  Ceiling latency = ceiling("latency.hbm", 1 / 640e-9, 0, {});
  latency.kind = CeilingKind::latency;
  latency.level = Level::hbm;
  latency.role = Role::reference;
  m.ceilings.insert(m.ceilings.end(), {sustained, older, latency});
  Sweep sweep{.name = "sweep.read",
              .axis = SweepAxis::working_set,
              .variant = {},
              .points = {},
              .plateaus = {{16384, 131072, 33e12}, {1e6, 3e7, 9.7e12}, {2e8, 4e9, 4.67e12}},
              .boundaries = {236544, 46661632},
              .saturates_at = {}};
  for (std::int64_t bytes = 16384; bytes < 5'000'000'000; bytes *= 2) {
    const auto x = static_cast<double>(bytes);
    sweep.points.push_back({.x = x, .value = x < 2e5 ? 33e12 : x < 4e7 ? 9.7e12 : 4.67e12, .ci95 = {}});
  }
  m.sweeps = {sweep};
  m.idle_watts = 76;
}

/// An H200 as docs/method.md describes it, with one ceiling (l2.read) that failed its audit.
inline Machine h200() {
  Machine m;
  m.device.kind = DeviceKind::cuda;
  m.device.name = "NVIDIA H200";
  m.device.identity = "nvidia-h200-00000000";
  m.device.units = 132;
  m.device.memory_bytes = 150.1e9;
  m.device.caches = {{Level::l2, 60.0 * 1024 * 1024, 1}, {Level::l1, 256.0 * 1024, 132}};
  m.device.max_core_hz = 1.98e9;
  m.device.memory_hz = 3.201e9;
  m.device.driver = "580.159.04";
  m.device.isa = "sm_90";
  m.device.attributes = {{"power limit", "700 W"}, {"memory bus", "6016 bit"}};
  const double hbm_limit = 4.814e12;
  const std::string hbm_basis = "2 x 3201 MHz x 6016 bit";
  const std::string sm_basis = "132 SMs x 1980 MHz";
  m.ceilings = {
      bandwidth(Level::hbm, Pattern::read, 4.671e12, hbm_limit, hbm_basis),
      bandwidth(Level::hbm, Pattern::write, 4.351e12, hbm_limit, hbm_basis),
      bandwidth(Level::hbm, Pattern::copy, 4.255e12, hbm_limit, hbm_basis),
      bandwidth(Level::hbm, Pattern::triad, 4.399e12, hbm_limit, hbm_basis),
      bandwidth(Level::l2, Pattern::read, 9.84e12),
      compute(Pipe::fp64, 33.3e12, 33.5e12, sm_basis + " x 128 FLOP"),
      compute(Pipe::fp32, 65.0e12, 66.9e12, sm_basis + " x 256 FLOP"),
      compute(Pipe::tensor_tf32, 421e12, 535e12, sm_basis + " x 2048 FLOP"),
      compute(Pipe::tensor_fp16, 786e12, 1070e12, sm_basis + " x 4096 FLOP"),
      compute(Pipe::tensor_bf16, 798e12, 1070e12, sm_basis + " x 4096 FLOP"),
      overhead("launch.stream", 1 / 2.1e-6),
      overhead("launch.graph", 1 / 1.1e-6),
  };
  for (Ceiling& c : m.ceilings)
    if (c.pipe && c.name.starts_with("tensor.")) c.origin = "library GEMM";
  m.ceilings[4].audit.checks.push_back(
      {"not cache-resident in L1", CheckStatus::fail, "doubling the working set changed the rate by 6.1 %"});
  add_what_no_kernel_is_drawn_under(m);
  m.unmeasured = {{"tensor.fp8", "no probe for this type yet"}};
  m.measured_at = "2026-01-15T09:30:00Z";
  m.tool_version = "0.1.0";
  m.host = "Debian GNU/Linux 12, Linux 6.1.0";
  return m;
}

/// A verified row that took `time_s` seconds a launch.
inline Point ok_point(const Machine& machine, Workload workload, std::string family, Work work, double time_s) {
  Point p;
  p.workload = std::move(workload);
  p.family = std::move(family);
  p.implementation_summary = "one pass, 16-byte accesses";
  p.work = std::move(work);
  p.bound = bound_of(p.work, machine);
  Verification v;
  v.passed = true;
  v.error = 3.1e-4;
  v.tolerance = 1e-3;
  v.checked = 4096;
  v.outputs = 1 << 20;
  v.reference = "fp64 on the CPU, 4096 of 1048576 elements";
  p.verification = v;
  p.time = timed(time_s);
  p.buffer_sets = 2;
  p.resident_bytes = 1e9;
  return p;
}

inline Workload workload(const std::string& op, const std::string& implementation, DType dtype, Shape shape) {
  Workload w;
  w.op = op;
  w.implementation = implementation;
  w.dtype = dtype;
  w.label = op + " " + std::string(to_string(dtype)) + " ";
  for (std::size_t i = 0; i < shape.extents().size(); ++i)
    w.label += (i == 0 ? "" : "x") + std::to_string(shape.extents()[i].second);
  w.shape = std::move(shape);
  return w;
}

/// A row of a streaming op: `flops_per_element` on fp32, `reads` and `writes` elements per element,
/// measured at `rate` byte/s of compulsory traffic.
inline Point streaming(const Machine& machine, const std::string& op, const std::string& family, DType dtype,
                       Shape shape, double flops_per_element, double reads, double writes, double rate) {
  double elements = 1;
  for (const auto& extent : shape.extents()) elements *= static_cast<double>(extent.second);
  const double size = static_cast<double>(element_size(dtype));
  Work work;
  work.flops[Pipe::fp32] = flops_per_element * elements;
  if (op == "softmax") {
    work.flops[Pipe::fp32] -= elements;
    work.flops[Pipe::sfu] = elements;
  }
  const Level memory = main_memory(machine.device.kind);
  work.bytes[memory] = {reads * elements * size, writes * elements * size};
  const double time_s = work.bytes[memory].total() / rate;
  const char* implementation = machine.device.kind == DeviceKind::cuda ? "cuda" : "vector";
  return ok_point(machine, workload(op, implementation, dtype, std::move(shape)), family, work, time_s);
}

inline Point gemm(const Machine& machine, const std::string& implementation, DType dtype, std::int64_t n,
                  double flops_per_s) {
  const double extent = static_cast<double>(n);
  const double size = static_cast<double>(element_size(dtype));
  const bool on_vector_pipe = implementation == "cuda" && dtype == DType::fp32;
  Work work;
  work.flops[on_vector_pipe ? Pipe::fp32 : matrix_pipe(dtype, machine.device.kind)] = 2 * extent * extent * extent;
  work.bytes[main_memory(machine.device.kind)] = {2 * extent * extent * size, extent * extent * size};
  return ok_point(machine, workload("gemm", implementation, dtype, {{"m", n}, {"n", n}, {"k", n}}), "matrix product",
                  work, 2 * extent * extent * extent / flops_per_s);
}

inline Point attention(const Machine& machine, DType dtype, double flops_per_s) {
  const double batch = 4, heads = 16, sequence = 2048, head = 128;
  const double size = static_cast<double>(element_size(dtype));
  Work work;
  const double flops = 4 * batch * heads * sequence * sequence * head;
  work.flops[matrix_pipe(dtype, machine.device.kind)] = flops;
  work.uncounted[Pipe::sfu] = batch * heads * sequence * sequence;
  work.bytes[main_memory(machine.device.kind)] = {3 * batch * heads * sequence * head * size,
                                                  batch * heads * sequence * head * size};
  return ok_point(machine,
                  workload("attention", "cuda", dtype, {{"batch", 4}, {"heads", 16}, {"seq", 2048}, {"dim", 128}}),
                  "attention", work, flops / flops_per_s);
}

/// A row without a time: skipped or failed, with its reason.
inline Point without_time(Point point, PointStatus status, const std::string& reason) {
  point.status = status;
  point.reason = reason;
  point.time.reset();
  if (status == PointStatus::skipped) {
    point.verification.reset();
  } else {
    point.verification->passed = false;
    point.verification->error = 0.75;
    point.verification->failure = reason;
  }
  return point;
}

inline Report around(Machine machine, const std::string& suite) {
  Report r;
  r.invocation.command = {"roofline", "analyze", "configs/" + suite + ".yaml"};
  r.invocation.run_name = suite;
  r.invocation.suite_path = "configs/" + suite + ".yaml";
  r.invocation.suite_text = "name: " + suite + "\n";
  r.invocation.tool_version = "0.1.0";
  r.invocation.started_at = "2026-01-15T09:32:10Z";
  r.invocation.duration_s = 41.7;
  r.machine = std::move(machine);
  return r;
}

/// The standard suite on an H200: 22 points, one skipped row and one failed.
inline Report sample_report() {
  Report r = around(h200(), "ops");
  const Machine& m = r.machine;
  const std::vector<DType> types = {DType::fp32, DType::fp16, DType::bf16};
  const std::vector<double> relu = {4.229e12, 4.223e12, 4.221e12}, sum = {4.512e12, 4.417e12, 4.402e12};
  const std::vector<double> norm = {4.155e12, 3.604e12, 3.581e12}, soft = {3.938e12, 3.120e12, 3.093e12};
  for (std::size_t i = 0; i < types.size(); ++i)
    r.points.push_back(streaming(m, "relu", "elementwise", types[i], {{"n", 1 << 28}}, 1, 1, 1, relu[i]));
  for (std::size_t i = 0; i < types.size(); ++i)
    r.points.push_back(streaming(m, "reduction", "reduction", types[i], {{"n", 1 << 28}}, 1, 1, 0, sum[i]));
  for (std::size_t i = 0; i < types.size(); ++i)
    r.points.push_back(
        streaming(m, "layernorm", "normalisation", types[i], {{"rows", 32768}, {"cols", 4096}}, 10, 1, 1, norm[i]));
  for (std::size_t i = 0; i < types.size(); ++i)
    r.points.push_back(
        streaming(m, "softmax", "normalisation", types[i], {{"rows", 32768}, {"cols", 4096}}, 5, 1, 1, soft[i]));
  r.points.push_back(attention(m, DType::fp32, 31e12));
  r.points.push_back(attention(m, DType::fp16, 344e12));
  r.points.push_back(attention(m, DType::bf16, 339e12));
  r.points.push_back(gemm(m, "cuda", DType::fp32, 4096, 38.4e12));
  r.points.push_back(gemm(m, "cuda", DType::fp16, 4096, 412e12));
  r.points.push_back(gemm(m, "cuda", DType::bf16, 4096, 418e12));
  r.points.push_back(gemm(m, "cublas", DType::fp32, 4096, 50.8e12));
  r.points.push_back(gemm(m, "cublas", DType::tf32, 4096, 356e12));
  r.points.push_back(gemm(m, "cublas", DType::fp16, 4096, 679e12));
  r.points.push_back(gemm(m, "cublas", DType::bf16, 4096, 706e12));
  r.points.push_back(without_time(gemm(m, "cuda", DType::tf32, 4096, 1e12), PointStatus::skipped,
                                  "implementation 'cuda' has no tf32 kernel"));
  r.points.push_back(without_time(attention(m, DType::fp64, 1e12), PointStatus::failed,
                                  "element 17 is 0.25, the reference is 1.0 (error 0.75 > tolerance 0.001)"));
  r.notes = {"The machine was calibrated 3 days ago (roofline 0.1.0)."};
  return r;
}

/// Counters of a launch that moves `over_model` of its compulsory bytes through DRAM, and so many times those through
/// L2 and L1; its FLOPs are for the caller to add.
inline Counters counters(const Point& point, double over_model, double l2, double l1) {
  const Traffic& model = point.work.bytes.at(Level::hbm);
  Counters c;
  c.source = "CUPTI 13.0 on GH100";
  c.passes = 4;
  for (const char* id : {"fp64.add",
                         "fp64.mul",
                         "fp64.fma",
                         "fp32.add",
                         "fp32.mul",
                         "fp32.fma",
                         "half.add",
                         "half.mul",
                         "half.fma",
                         "tensor.wgmma_bf16_ops",
                         "tensor.wgmma_fp16_ops",
                         "tensor.wgmma_tf32_ops",
                         "tensor.wgmma_int8_ops",
                         "tensor.mma_bf16_ops",
                         "tensor.mma_fp16_ops",
                         "tensor.fp8_ops",
                         "tensor.fp64_ops",
                         "tensor.active",
                         "local.bytes",
                         "shared.bytes",
                         "shared.thread_bytes"})
    c.values[id] = 0;
  c.values["time_s"] = point.time->median * 1.08;
  c.values["sm.clock_hz"] = 1.755e9;
  c.values["sm.active_cycles"] = 2.4e7;
  c.values["dram.read_bytes"] = model.read * over_model;
  c.values["dram.write_bytes"] = model.write * over_model;
  c.values["l2.bytes"] = model.total() * l2;
  c.values["l2.all_bytes"] = model.total() * l2 * 1.5;
  c.values["l1.bytes"] = model.total() * l1;
  c.values["l2.hit_rate"] = 1 - 1 / (2 * l2);
  c.values["l1.hit_rate"] = std::max(0.0, 1 - l2 / l1);
  c.values["occupancy"] = 0.87;
  for (const char* id : {"global.load_bytes", "global.store_bytes"}) c.values[id] = model.total() * l1 / 2;
  for (const char* id : {"global.load_sectors", "global.store_sectors"}) c.values[id] = model.total() * l1 / 64;
  for (const char* id : {"global.load_instructions", "global.store_instructions"})
    c.values[id] = model.total() * l1 / 1024;
  c.missing = {{"tensor.mma_tf32_ops", "in the full set only"}, {"tensor.mma_int8_ops", "in the full set only"}};
  c.kernels = {{.kernel = point.workload.op + "_kernel",
                .blocks = 1056,
                .threads = 256,
                .registers = 32,
                .shared_bytes = 0,
                .local_bytes = 0,
                .blocks_per_sm = 8,
                .occupancy = 1,
                .limit = OccupancyLimit::threads,
                .waves = 1}};
  return c;
}

/// The standard suite with counters for every timed row: a stream each, but for a tiled product on CUDA cores (row 15),
/// one through wgmma (21), and an attention through mma.sync with a tenth of its work on fp32 (13).
inline Report counted_sample_report() {
  Report r = sample_report();
  for (Point& point : r.points) {
    if (!point.time) continue;
    point.counters = counters(point, 1.02, 1.02, 1.02);
    const double flops = point.work.total_flops();
    if (const auto fp32 = point.work.flops.find(Pipe::fp32); fp32 != point.work.flops.end())
      point.counters->values["fp32.add"] = fp32->second;
    const Pipe pipe = point.work.flops.begin()->first;
    const char* tensor = pipe == Pipe::tensor_bf16   ? "tensor.wgmma_bf16_ops"
                         : pipe == Pipe::tensor_fp16 ? "tensor.wgmma_fp16_ops"
                         : pipe == Pipe::tensor_tf32 ? "tensor.wgmma_tf32_ops"
                                                     : nullptr;
    if (tensor != nullptr) point.counters->values[tensor] = flops;
    if (point.workload.op == "gemm") {
      point.counters = counters(point, 1.4, 12, 150);
      point.counters->values[tensor != nullptr ? tensor : "fp32.fma"] = tensor != nullptr ? flops : flops / 2;
      point.counters->values["tensor.active"] = tensor != nullptr ? 0.9 : 0;
      point.counters->values["shared.bytes"] = 8e9;
      point.counters->values["shared.thread_bytes"] = 8e9;
    }
  }
  Counters& attention = r.points[13].counters.emplace(counters(r.points[13], 1.1, 8, 20));
  attention.values["tensor.mma_fp16_ops"] = r.points[13].work.total_flops();
  attention.values["fp32.fma"] = r.points[13].work.total_flops() / 20;
  attention.values["tensor.active"] = 0.41;
  attention.values["occupancy"] = 0.18;
  attention.kernels[0].registers = 168;
  attention.kernels[0].shared_bytes = 96.0 * 1024;
  attention.kernels[0].limit = OccupancyLimit::registers;
  return r;
}

/// A 2-core CPU: dram, l3, l2 and l1 slopes, fp32 and fp64, six points.
inline Report cpu_sample_report() {
  Machine m;
  m.device.kind = DeviceKind::cpu;
  m.device.name = "AMD EPYC 7763 64-Core Processor";
  m.device.identity = "amd-epyc-7763-2-threads";
  m.device.units = 2;
  m.device.memory_bytes = 8.3e9;
  m.device.caches = {{Level::l3, 32.0 * 1024 * 1024, 1}, {Level::l2, 512.0 * 1024, 2}, {Level::l1, 32.0 * 1024, 2}};
  m.device.isa = "avx2";
  m.ceilings = {
      bandwidth(Level::dram, Pattern::read, 24.6e9),
      bandwidth(Level::dram, Pattern::write, 22.1e9),
      bandwidth(Level::dram, Pattern::copy, 21.3e9),
      bandwidth(Level::dram, Pattern::triad, 22.4e9),
      bandwidth(Level::l3, Pattern::read, 91.0e9),
      bandwidth(Level::l2, Pattern::read, 196e9),
      bandwidth(Level::l1, Pattern::read, 402e9),
      compute(Pipe::fp64, 103e9, 112e9, "2 cores x 3.5 GHz x 16 FLOP"),
      compute(Pipe::fp32, 207e9, 224e9, "2 cores x 3.5 GHz x 32 FLOP"),
      overhead("launch.pool", 1 / 4.2e-6),
  };
  m.measured_at = "2026-01-15T08:12:00Z";
  m.tool_version = "0.1.0";
  m.host = "Debian GNU/Linux 12, Linux 6.1.0";
  Report r = around(std::move(m), "ops");
  const Machine& cpu = r.machine;
  r.points = {
      streaming(cpu, "relu", "elementwise", DType::fp32, {{"n", 1 << 26}}, 1, 1, 1, 20.8e9),
      streaming(cpu, "reduction", "reduction", DType::fp32, {{"n", 1 << 26}}, 1, 1, 0, 24.2e9),
      streaming(cpu, "layernorm", "normalisation", DType::fp32, {{"rows", 8192}, {"cols", 4096}}, 10, 1, 1, 18.4e9),
      streaming(cpu, "softmax", "normalisation", DType::fp32, {{"rows", 8192}, {"cols", 4096}}, 5, 1, 1, 9.7e9),
      attention(cpu, DType::fp32, 88e9),
      gemm(cpu, "eigen", DType::fp32, 1024, 181e9),
  };
  return r;
}

/// `count` points strewn over and near the H200's roofs, the same for the same seed on every machine.
inline Report random_report(int count, unsigned seed = 1) {
  Report r = around(h200(), "stress");
  std::mt19937 engine(seed);
  // Not std::uniform_real_distribution: its sequence is not the same in every standard library.
  const auto uniform = [&engine] { return static_cast<double>(engine()) / 4294967296.0; };
  const std::vector<std::string> families = {"elementwise", "reduction", "normalisation", "attention",
                                             "matrix product"};
  const std::vector<DType> types = {DType::fp32, DType::fp16, DType::bf16};
  for (int i = 0; i < count; ++i) {
    const double intensity = std::pow(10.0, -1.3 + 4.5 * uniform());
    const DType type = types[static_cast<std::size_t>(engine() % types.size())];
    Work work;
    work.flops[intensity > 20 ? matrix_pipe(type, DeviceKind::cuda) : Pipe::fp32] = 1e9 * intensity;
    work.bytes[Level::hbm] = {6e8, 4e8};
    Workload w = workload("kernel_" + std::to_string(i), "cuda", type, {{"n", 1000 + i}});
    const double attainable = bound_of(work, r.machine).attainable_time_s;
    const double efficiency = std::pow(10.0, -1.5 * uniform() * uniform());
    r.points.push_back(
        ok_point(r.machine, std::move(w), families[engine() % families.size()], work, attainable / efficiency));
  }
  return r;
}

}  // namespace roofline::example
