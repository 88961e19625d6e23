// Suite + Machine → Report: every workload verified, timed and placed under the machine's roofs.
#pragma once

#include <functional>
#include <optional>

#include "calibrate/calibrate.hpp"
#include "config/suite.hpp"
#include "measure/sampler.hpp"
#include "report/report.hpp"

namespace roofline {

struct AnalyzeOptions {
  DeviceChoice device;
  SamplerOptions sampler;
  bool raw = false;  ///< keep every sample
  std::function<void(const Progress&)> progress = [](const Progress&) {};
  /// Called with the report so far after each row: the place to write it to disk.
  std::function<void(const Report&)> on_row = [](const Report&) {};
};

/// One row for each entry of the suite, in its order, whatever happens: a workload that fails, even one
/// that kills its process or its GPU context, becomes a failed row with the reason. At an interrupt the
/// rows that are missing become skipped rows and the report is marked cancelled.
Report analyze(const Suite& suite, const Machine& machine, const AnalyzeOptions& options);

}  // namespace roofline
