// Contention during a measurement, to and from JSON: `disturbed` of rows and ceilings, `pace` of rows. Internal to
// src/report.
#pragma once

#include "model/contention.hpp"
#include "report/json/json_members.hpp"

namespace roofline {

void members(auto& io, Contention& seen) {
  io.derived("because", describe(seen));  // the sentence is for people
  io("wall_s", seen.wall_s);
  io("cpus", seen.cpus);
  io("cores", seen.cores);
  io("others_s", seen.others_s);
  io("stolen_s", seen.stolen_s);
  io("worst_cpu_s", seen.worst_cpu_s);
  io("waited_s", seen.waited_s);
  io("throttled_s", seen.throttled_s);
  io("preemptions", seen.preemptions);
}

void members(auto& io, ReferenceRates& rates) {
  io("copy", rates.copy);
  io("arithmetic", rates.arithmetic);
}

}  // namespace roofline
