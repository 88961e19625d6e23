// Suite + Machine → Report: every workload verified, timed and placed under the machine's roofs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "config/suite.hpp"
#include "device/counter_reader.hpp"
#include "host/rendezvous.hpp"
#include "measure/sampler.hpp"
#include "report/report.hpp"

namespace roofline {

struct AnalyzeOptions {
  DeviceChoice device;
  SamplerOptions sampler;
  bool raw = false;  ///< keep every sample
  /// Seconds after which a row is ended, unless it has a lesser limit in the suite; nothing: never.
  std::optional<double> row_limit_s = {};
  /// Hardware counters to read, in a process of their own after everything has been timed.
  std::optional<CounterSet> counters = {};
  /// With the processes that hold the other ranks, of which this one leads; null where there are none.
  std::shared_ptr<Rendezvous> together = {};
  std::vector<std::string> command = {};  ///< argv, for the report
  std::vector<std::string> notes = {};    ///< what a reader of the report must know of its machine
  std::function<void(const Progress&)> progress = [](const Progress&) {};
  /// Called with the report so far, which is not complete, after each row: the place to write it to disk.
  std::function<void(const Report&)> on_row = [](const Report&) {};
};

/// One row for each entry of the suite, in its order, whatever happens: a workload that fails, even one
/// that kills its process or its GPU context, becomes a failed row with the reason. At an interrupt the
/// rows that are missing become skipped rows and the report is marked cancelled. Rows that were disturbed while they
/// were timed, came at a slow pace of the machine or are badly measured are timed again at the end, without a call of
/// `on_row`.
Report analyze(const Suite& suite, const Machine& machine, const AnalyzeOptions& options);

/// One workload that was run once, for a profiler to count.
struct ProfiledRun {
  std::string label;
  std::string implementation;
  std::int64_t kernels = 0;  ///< kernels of the launch; 0 where the device doesn't tell
  bool skipped = false;      ///< can't run on this device
  std::string failure;       ///< why it was not run; empty when it was
};

/// Runs every workload of the suite once between the marks that Device::run_profiled sets. Runs in this process, so
/// that a profiler sees one.
std::vector<ProfiledRun> run_suite_once(const Suite& suite, const DeviceChoice& choice);

}  // namespace roofline
