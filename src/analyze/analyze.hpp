// Suite + Machine → Report: every workload verified, timed and placed under the machine's roofs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
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

/// A command to run under emulation, and the file whose code is to be counted with the libraries that it calls.
struct EmulatedCode {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  ///< variables to set or replace
  std::filesystem::path module;
};
/// All operations of the run; std::nullopt if it was not counted to its end.
using CountOperations = std::function<std::optional<ExecutedOperations>(const EmulatedCode& code)>;

struct AnalyzeOptions {
  DeviceChoice device;
  SamplerOptions sampler;
  bool raw = false;  ///< keep every sample
  /// Seconds after which a row is killed, unless it has a lower limit in the suite; std::nullopt: never.
  std::optional<double> row_limit_s = {};
  /// Hardware counters to read, in a separate process after everything has been timed.
  std::optional<CounterSet> counters = {};
  /// On a CPU without counters: seconds for experiments on rows that nothing explains (docs/method.md); 0: none.
  double experiments_s = 10;
  /// Counts what own kernels of a CPU without counters execute; empty: not counted.
  CountOperations count_operations = {};
  /// The processes that hold the other ranks, if this one leads several; otherwise null.
  std::shared_ptr<Rendezvous> together = {};
  std::vector<std::string> command = {};  ///< argv, for the report
  std::vector<std::string> notes = {};    /// facts about the machine for the report
  std::function<void(const Progress&)> progress = [](const Progress&) {};
  /// Called with the incomplete report after each row, for example to write it to disk.
  std::function<void(const Report&)> on_row = [](const Report&) {};
};

/// One row for each entry of the suite, in order: a workload that fails, even one that kills its process or its GPU
/// context, becomes a failed row with the reason. At an interrupt the remaining rows are skipped and the report is
/// marked cancelled. Rows measured under contention or background slowdown, or badly measured, are timed again at
/// the end, without a call of `on_row`.
Report analyze(const Suite& suite, const Machine& machine, const AnalyzeOptions& options);

/// One workload that was run once, for a profiler to count.
struct ProfiledRun {
  std::string label;
  std::string implementation;
  std::int64_t kernels = 0;  /// kernels of the launch; 0 if the device does not report them
  bool skipped = false;      /// cannot run on this device
  std::string failure;       ///< why it was not run; empty when it was
};

/// Runs every workload of the suite once between the marks of Device::run_profiled. Runs in this process, so that a
/// profiler sees one process.
std::vector<ProfiledRun> run_suite_once(const Suite& suite, const DeviceChoice& choice);

}  // namespace roofline
