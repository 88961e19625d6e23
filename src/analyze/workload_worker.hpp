// The child process that times the rows of a suite, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analyze/analyze.hpp"
#include "analyze/pair_row.hpp"
#include "analyze/reference_probe.hpp"
#include "device/device.hpp"
#include "device/isolate.hpp"

namespace roofline {

/// A row without its outcome and the values derived from it.
Point planned_point(const SuiteEntry& entry, const Machine& machine);

/// Outcome of a row that was not run.
Outcome without_run(PointStatus status, std::string reason);

/// Seconds: the lower of the limit of all rows and the row's own from the suite.
std::optional<double> limit_of(const SuiteEntry& entry, const AnalyzeOptions& options);

/// Opens the device at the first workload that needs it and keeps it for the following ones.
class WorkloadWorker {
 public:
  WorkloadWorker(const Suite& suite, const Machine& machine, const AnalyzeOptions& options)
      : suite_(suite), machine_(machine), options_(options) {}

  /// Sends {"opened": true} once the device is open, and the outcome of entry `job`.
  AfterJob run(std::int64_t job, const Send& send);

 private:
  Outcome measure(const SuiteEntry& entry, std::string& implementation, const Send& send);
  void pair(const SuiteEntry& entry, Outcome& outcome, const Bench& bench);

  const Suite& suite_;
  const Machine& machine_;
  const AnalyzeOptions& options_;
  std::unique_ptr<Device> device_;
  std::optional<ReferenceProbe> reference_;
  std::optional<RowPairs> pairs_;
};

}  // namespace roofline
