// Small machines and rows for projections, with round figures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "measure/summary.hpp"
#include "report/report.hpp"

namespace roofline::example {

inline Ceiling ceiling_of(const std::string& name, CeilingKind kind, double value) {
  Ceiling ceiling;
  ceiling.name = name;
  ceiling.kind = kind;
  ceiling.value = value;
  ceiling.ci95 = {value * 0.999, value * 1.001};
  ceiling.origin = kProbeOrigin;
  return ceiling;
}

inline Ceiling bandwidth(const std::string& name, Level level, Pattern pattern, double value) {
  Ceiling ceiling = ceiling_of(name, CeilingKind::bandwidth, value);
  ceiling.level = level;
  ceiling.pattern = pattern;
  return ceiling;
}

inline Ceiling compute(const std::string& name, Pipe pipe, double value) {
  Ceiling ceiling = ceiling_of(name, CeilingKind::compute, value);
  ceiling.pipe = pipe;
  return ceiling;
}

inline Machine gpu(const std::string& name, double memory, double fp32 = 60e12) {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.name = name;
  machine.device.identity = name;
  machine.ceilings = {bandwidth("hbm.read", Level::hbm, Pattern::read, memory),
                      bandwidth("l2.read", Level::l2, Pattern::read, 8e12), compute("fp32", Pipe::fp32, fp32)};
  return machine;
}

inline Point row(const std::string& label, double seconds, double bytes, double flops = 0) {
  Point point;
  point.workload.label = label;
  point.time = summarize({&seconds, 1});
  if (bytes > 0) point.work.bytes[Level::hbm] = {.read = bytes, .write = 0};
  if (flops > 0) point.work.flops[Pipe::fp32] = flops;
  return point;
}

inline Report report_of(std::vector<Point> points, double memory = 3e12) {
  Report report;
  report.machine = gpu("here", memory);
  report.points = std::move(points);
  return report;
}

/// A profile with one kernel per step, at 98 % of main memory's roof of 3 TB/s.
inline Report with_step(double kernels_s, double idle_s) {
  Point point = row("copy", kernels_s, 0.98 * 3e12 * kernels_s);
  point.profiled.emplace();
  point.profiled->step = StepCost{1, kernels_s};
  Report report = report_of({point});
  report.profile.emplace();
  report.profile->steps.emplace();
  Steps& steps = *report.profile->steps;
  steps.count = 10;
  steps.total_s = 10 * (kernels_s + idle_s);
  WallTime wall;
  wall.wall_s = steps.total_s;
  wall.kernels_s = 10 * kernels_s;
  wall.idle_elsewhere_s = 10 * idle_s;
  steps.devices = {wall};
  return report;
}

}  // namespace roofline::example
