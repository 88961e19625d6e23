// Summary of one calibration: the device, facts that may explain a difference, and each ceiling's value and conditions.
// A tenth of the size of a Machine, because a fleet may have 100,000.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// Interned string, valid until the program ends: names of ceilings repeat in every file.
std::string_view interned(std::string_view text);

struct CeilingSummary {
  std::string_view label;  ///< "tensor.bf16 (sustained)"; interned, as the others
  CeilingKind kind = CeilingKind::bandwidth;
  std::optional<Pipe> pipe = {};  ///< set for compute ceilings
  Role role = Role::roof;
  CheckStatus audit = CheckStatus::not_run;
  double value = 0;
  float core_hz = 0;  ///< 0 if not recorded
  float temperature_c = std::numeric_limits<float>::quiet_NaN();
  std::optional<std::string_view> limiter = {};  ///< clock-limit reason; empty string: not limited
  std::string_view contention = {};              ///< other load during the measurement; empty if negligible
};

struct MachineSummary {
  std::string file;
  std::string host;  ///< host name; the file name if not recorded
  bool host_recorded = false;
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  std::string name;      ///< "NVIDIA H200"
  std::string identity;  ///< as in DeviceInfo
  std::string uuid;      ///< empty on a CPU
  std::int64_t units = 0;
  double memory_bytes = 0;
  std::string isa;
  std::string measured_at;
  bool quick = false;
  bool cancelled = false;
  std::vector<Attribute> facts;  ///< attributes, driver, clocks and versions; no serial numbers or addresses
  std::vector<CeilingSummary> ceilings;

  /// "cpu" or "GPU 3 (360f7906)".
  std::string device() const;
  /// Equal for calibrations of one device in one host.
  std::string key() const;
  const std::string* fact(AttributeKey key) const;
  const CeilingSummary* find(std::string_view label) const;
};

/// The calibrations in a machine.json, node.json or report.json, one per device. Throws UsageError with the defect.
std::vector<MachineSummary> read_machine_summaries(const std::string& text, const std::string& file);

}  // namespace roofline
