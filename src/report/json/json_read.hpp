// The readers of machine.json and report.json, each from a value with its path in the document.
// Internal to src/report: other code calls parse_machine and parse_report.
#pragma once

#include "report/json/json_value.hpp"
#include "report/report.hpp"

namespace roofline {

DeviceInfo read_device(const JsonValue& json);
Ceiling read_ceiling(const JsonValue& json);
Sweep read_sweep(const JsonValue& json);
Machine read_machine(const JsonValue& json);
Point read_point(const JsonValue& json);
std::vector<Experiment> read_experiments(const JsonValue& json);
Report read_report(const JsonValue& json);

/// Throws UsageError unless the document's "schema" is `expected`.
void expect_schema(const JsonValue& json, const std::string& expected);

}  // namespace roofline
