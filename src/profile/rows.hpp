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

/// The row of that group: its times, and as far as it was counted its work, bound and place under the roofs.
/// `why_not_counted` is why nothing was, for the whole program; empty where something was.
Point row_of(const LaunchGroup& group, const Recording& recording, const Machine& machine,
             const std::string& why_not_counted);

/// The roofs of each of these GPUs: the machine's, or those of another GPU of its name; null where neither is of its
/// model. Where all are of one model, or the machine is none of them, they have the machine's: the user chose it.
std::vector<const Machine*> roofs_of_devices(const std::vector<std::string_view>& names, const Machine& machine,
                                             const std::vector<Machine>& others);

/// "model.py:10 forward", with the file's path below `folder` where it lies there; empty for no line.
std::string line_text(const ProcessTrace& trace, spool::Id line, const std::string& folder = {});

/// Gives rows of one name a number each, so that a label names one row.
void make_labels_unique(std::vector<Point>& points);

/// Why these times (seconds, any order) seem to be of different work; empty where they don't.
std::string modes_of(std::vector<double> times);

}  // namespace roofline
