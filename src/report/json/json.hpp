// JSON, the contract with other programs: Report and Machine to and from text (docs/report-schema.md).
// Reading is strict: an unknown schema version, a missing key or a wrong type is a UsageError naming it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/report.hpp"

namespace roofline {

inline constexpr const char* kMachineSchema = "roofline.machine/1";
inline constexpr const char* kReportSchema = "roofline.report/1";

/// report.json: the opening, the rows with a comma between any two, and the closing.
std::string render_json(const Report& report);

struct ReportFrame {
  std::string opening, closing;
};
/// Around the rows of a report that has some.
ReportFrame report_frame(const Report& report);
/// A row of report.json.
std::string row_text(const Point& point, const Machine& machine);

nlohmann::ordered_json machine_to_json(const Machine& machine);
nlohmann::ordered_json report_to_json(const Report& report);
/// A row of report.json, with the diagnosis that follows from it. `machine` is the one it was measured on.
nlohmann::ordered_json point_to_json(const Point& point, const Machine& machine);
/// A row as sent from the child process to its parent.
nlohmann::ordered_json outcome_to_json(const Outcome& outcome);
nlohmann::ordered_json executed_flops_to_json(const ExecutedFlops& flops);
nlohmann::ordered_json experiments_to_json(const std::vector<Experiment>& experiments);
nlohmann::ordered_json ceiling_to_json(const Ceiling& ceiling);
nlohmann::ordered_json sweep_to_json(const Sweep& sweep);
nlohmann::ordered_json device_to_json(const DeviceInfo& device);

Sweep sweep_from_json(const nlohmann::ordered_json& json);
Ceiling ceiling_from_json(const nlohmann::ordered_json& json);
DeviceInfo device_from_json(const nlohmann::ordered_json& json);
Outcome outcome_from_json(const nlohmann::ordered_json& json);
ExecutedFlops executed_flops_from_json(const nlohmann::ordered_json& json);
std::vector<Experiment> experiments_from_json(const nlohmann::ordered_json& json);

/// Parses and checks a file's text. `source` is its name in messages. Throws UsageError.
Machine parse_machine(const std::string& text, const std::string& source);
Report parse_report(const std::string& text, const std::string& source);

}  // namespace roofline
