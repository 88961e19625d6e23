// A CPU program of planted loops: its counts as roofline_count writes them, samples of its threads, and a small
// machine.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace roofline::example {

/// A loop at an address of the program: its counts as fields of a record, and the milliseconds that each thread is in
/// it.
struct PlantedLoop {
  std::uint64_t head = 0x100;
  std::string counts;                  ///< "flops.fp64.scalar=1000 loads=5"
  std::vector<int> milliseconds = {};  ///< by thread; they start together
  double iterations = 1000;
};

inline Ceiling planted_roof(const std::string& name, CeilingKind kind, double value, Role role = Role::roof) {
  Ceiling ceiling;
  ceiling.name = name;
  ceiling.kind = kind;
  ceiling.value = value;
  ceiling.role = role;
  ceiling.level = kind == CeilingKind::bandwidth ? level_of(name) : std::nullopt;
  if (kind == CeilingKind::bandwidth) ceiling.pattern = Pattern::read;
  if (kind == CeilingKind::compute) ceiling.pipe = parse_pipe(name.substr(0, name.find('.')));
  return ceiling;
}

/// Four cores of 2 GHz with AVX2.
inline Machine four_cores() {
  Machine machine;
  machine.device.kind = DeviceKind::cpu;
  machine.device.name = "Four cores";
  machine.device.identity = "four-cores";
  machine.device.units = 4;
  machine.device.isa = "avx2";
  machine.device.caches = {{Level::l1, 32768, 4}, {Level::l2, 524288, 4}, {Level::l3, 8388608, 1}};
  const auto add = [&](const std::string& name, CeilingKind kind, double value, double one_core) {
    machine.ceilings.push_back(planted_roof(name, kind, value));
    machine.ceilings.push_back(planted_roof(name + ".one_core", kind, one_core, Role::reference));
  };
  add("fp64", CeilingKind::compute, 128e9, 32e9);
  add("fp32", CeilingKind::compute, 256e9, 64e9);
  add("l1.read", CeilingKind::bandwidth, 480e9, 120e9);
  add("l2.read", CeilingKind::bandwidth, 240e9, 60e9);
  add("l3.read", CeilingKind::bandwidth, 100e9, 30e9);
  add("dram.read", CeilingKind::bandwidth, 20e9, 10e9);
  return machine;
}

inline CountedInstructions counts_of(const std::vector<PlantedLoop>& loops, const std::string& end = "complete") {
  std::string text =
      "roofline-counts\t1\npid\t10\t1\nisa\tavx2\ncache\t1\t32768\t8\t64\tprivate\nmodule\t0\t0x0\t/planted/solver\n";
  for (const PlantedLoop& loop : loops) {
    if (loop.counts.empty()) continue;
    std::string fields = loop.counts;
    for (char& c : fields) c = c == ' ' ? '\t' : c;
    text += fmt::format("i\t0\t{:#x}\t{}\t{}\n", loop.head, loop.iterations, fields);
    text += fmt::format("e\t0\t{:#x}\t{:#x}\t{}\n", loop.head + 0x10, loop.head, loop.iterations - 1);
  }
  CountedInstructions counted;
  std::istringstream in(text + "end\t" + end + "\n");
  read_counts(in, "10.counts", counted);
  return counted;
}

inline HostSamples samples_of(const std::vector<PlantedLoop>& loops) {
  HostSamples samples;
  samples.code.modules = {"/planted/solver"};
  samples.code.period_s = 1e-3;
  std::uint64_t start = 1'000'000;
  for (const PlantedLoop& loop : loops) {
    int longest = 0;
    for (std::size_t thread = 0; thread < loop.milliseconds.size(); ++thread) {
      longest = std::max(longest, loop.milliseconds[thread]);
      while (samples.threads.size() <= thread) {
        const auto tid = static_cast<std::int64_t>(10 + samples.threads.size());
        samples.threads.push_back({.pid = 10, .tid = tid, .name = "solver", .command = "solver", .main = tid == 10});
      }
      for (int i = 0; i < loop.milliseconds[thread]; ++i) {
        samples.code.samples.push_back({start + static_cast<std::uint64_t>(i) * 1'000'000,
                                        static_cast<std::int32_t>(thread),
                                        static_cast<std::int32_t>(samples.code.code.size())});
      }
    }
    samples.code.code.push_back({0, loop.head});
    start += static_cast<std::uint64_t>(longest) * 1'000'000;
  }
  std::ranges::stable_sort(samples.code.samples, {}, &CodeSample::time);
  samples.end = start;
  return samples;
}

inline Report cpu_program_report(const std::vector<PlantedLoop>& loops, const Machine& machine = four_cores(),
                                 const std::string& end = "complete") {
  ProgramFacts facts = {.program = {"solver"}, .folder = "/planted", .run = {}, .untraced_s = {}};
  facts.host = samples_of(loops);
  facts.counted = counts_of(loops, end);
  facts.gpu = false;
  return report_of({}, facts, machine);
}

/// One second of a program: a product that uses vectors, a serial stencil, and divisions.
inline Report planted_cpu_report() {
  return cpu_program_report(
      {{.head = 0x1000,
        .counts = "flops.fp64.256=40000000000 load.bytes=60000000000 l1.fills=40000000 l2.fills=4000000",
        .milliseconds = {400, 400, 400, 400}},
       {.head = 0x2000,
        .counts = "flops.fp64.scalar=200000000 load.bytes=1600000000 store.bytes=400000000 l1.fills=31250000 "
                  "l2.fills=31250000 l3.fills=31250000 l3.writebacks=6250000",
        .milliseconds = {450}},
       {.head = 0x3000,
        .counts = "flops.fp64.scalar=60000000 divides=60000000 load.bytes=480000000 l1.fills=100",
        .milliseconds = {150}}});
}

}  // namespace roofline::example
