// What a fleet knows of one calibration: who was measured, the facts that may explain a difference, and each ceiling's
// value with what was seen while it was measured. A tenth of a Machine, for there may be 100,000.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// The same text, kept until the program ends and only once: names of ceilings repeat in every file.
std::string_view interned(std::string_view text);

struct CeilingSummary {
  std::string_view label;  ///< "tensor.bf16 (sustained)"; interned, as the others
  CeilingKind kind = CeilingKind::bandwidth;
  Role role = Role::roof;
  CheckStatus audit = CheckStatus::not_run;
  double value = 0;
  float core_hz = 0;  ///< 0 where it is not recorded
  float temperature_c = std::numeric_limits<float>::quiet_NaN();
  std::optional<std::string_view> limiter = {};  ///< what held the clock down; empty: nothing did
  std::string_view contention = {};              ///< what else ran meanwhile; empty: nothing to speak of
};

struct MachineSummary {
  std::string file;
  std::string host;  ///< its name; of files that don't record it their own name
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
  std::vector<Attribute> facts;  ///< attributes, driver, clocks and versions; not what tells one device from another
  std::vector<CeilingSummary> ceilings;

  /// "cpu" or "GPU 3 (360f7906)".
  std::string device() const;
  /// Equal for calibrations of one device in one host.
  std::string key() const;
  const std::string* fact(AttributeKey key) const;
  const CeilingSummary* find(std::string_view label) const;
};

/// The calibrations in a machine.json or report.json, one a device. Throws UsageError with what is wrong with it.
std::vector<MachineSummary> read_machine_summaries(const std::string& text, const std::string& file);

}  // namespace roofline
