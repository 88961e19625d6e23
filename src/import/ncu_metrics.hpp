// What a launch's metrics mean, whatever version of ncu named them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/ncu_launch.hpp"

namespace roofline {

/// True if anything is made of that metric.
bool is_ncu_metric(std::string_view name);

inline constexpr const char* kNcuRecordHint =
    "record with ncu --set roofline; metrics of nvprof and rocprof have other names and are not read from such a table";

/// The metrics of a file: without any that is known, it has nothing to import.
class NcuMetricNames {
 public:
  /// True if the metric is known.
  bool take(std::string_view name);
  bool any_known() const { return known_; }
  /// What the file has instead, and what was looked for.
  std::string why_none() const;

 private:
  bool known_ = false;
  std::vector<std::string> others_ = {};  ///< the first ones
};

/// True if its values are whole numbers in the unit without a prefix.
bool is_ncu_count(std::string_view name);

/// True if its values are texts.
bool is_ncu_text(std::string_view name);

/// The metric of a label of the details page if it is unique; else the label.
std::string_view ncu_metric_of_label(std::string_view label, std::string_view unit);

/// A metric's value; std::nullopt if it is missing, negative or not finite.
std::optional<double> ncu_value(const NcuLaunch& launch, std::string_view metric);

/// The launch's time in ns.
std::optional<double> ncu_time(const NcuLaunch& launch);

/// The clock that the SMs ran a launch at, and its cycles; std::nullopt: not in the report.
struct NcuClock {
  std::optional<double> hz, cycles;
};
NcuClock ncu_clock(const NcuLaunch& launch);

/// The counters of a launch, under roofline's names.
std::map<std::string_view, double> ncu_quantities(const NcuLaunch& launch);

/// std::nullopt if the report has no such metrics.
std::optional<bool> ncu_tensor_cores_idle(const NcuLaunch& launch, const std::map<std::string_view, double>& values);

}  // namespace roofline
