// Launch signatures as rows of a report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.hpp"
#include "profile/recording.hpp"
#include "report/report.hpp"

namespace roofline {

/// The row of a group: its times, and if counted its work, bound and roof. `why_not_counted`: why the whole program has
/// no counts; empty if it has.
Point row_of(const LaunchGroup& group, const Recording& recording, const Machine& machine,
             const std::string& why_not_counted);

/// The roofs for each of these GPUs: those of the machine, or of another machine with the GPU's model; null if neither
/// matches. If all GPUs are of one model and no machine matches, the given machine is used, because the user chose it.
std::vector<const Machine*> roofs_of_devices(const std::vector<std::string_view>& names, const Machine& machine,
                                             const std::vector<Machine>& others);

/// "model.py:10 forward", with paths below `folder` shortened; empty without a line.
std::string line_text(const ProcessTrace& trace, spool::Id line, const std::string& folder = {});

/// Numbers rows with equal names, so that each label is unique.
void make_labels_unique(std::vector<Point>& points);

/// Why these times (seconds, any order) seem to belong to different work; empty if they do not.
std::string modes_of(std::vector<double> times);

}  // namespace roofline
