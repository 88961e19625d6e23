// The experiments on one row. Method and limits: docs/method.md ("Diagnosis by experiment").
#pragma once

#include <functional>
#include <vector>

#include "config/suite.hpp"
#include "device/device.hpp"
#include "model/experiment.hpp"
#include "report/report.hpp"

namespace roofline {

/// Called with the results so far before an experiment that may end the process.
using PublishExperiments = std::function<void(const std::vector<Experiment>&)>;

/// Runs the row of `entry` again, each time with one thing changed, on `all` threads and on `one`, until `end_s`
/// (wall_seconds()). An experiment that fails (no memory, a shape that the kernel refuses) is left out. Throws
/// PoisonedDevice.
std::vector<Experiment> experiments_on(const SuiteEntry& entry, const Point& point, Device& all, Device& one,
                                       double end_s, const PublishExperiments& publish);

}  // namespace roofline
