// CUPTI's host half for one chip: which metrics it has, how many passes they take, and their values. Needs no GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cupti/profiler.hpp"

namespace roofline {

class CuptiHost {
 public:
  /// `chip` as CUPTI spells it. `availability` is the image of a device, which leaves out what it does not let be
  /// counted; empty for all that the chip has. Throws Error where CUPTI does not know the chip.
  CuptiHost(const CuptiProfiler& profiler, CUpti_ProfilerType type, std::string chip,
            std::span<const std::uint8_t> availability);

  const std::string& chip() const { return chip_; }
  bool has(const std::string& metric) const;

  struct Schedule {
    std::vector<std::uint8_t> image;  ///< the configuration of a profiler
    std::size_t passes = 0;
  };
  /// Schedules these metrics with the earlier ones. Throws Error if one is unknown.
  Schedule schedule(std::vector<const char*> metrics);
  /// The configuration if all metrics are known and fit into one pass.
  std::optional<std::vector<std::uint8_t>> one_pass(std::vector<const char*> metrics);

  /// Their values in one range or sample of a counter data image.
  std::vector<double> evaluate(std::vector<const char*> metrics, std::span<const std::uint8_t> counter_data,
                               std::size_t index) const;

 private:
  CUptiResult add(std::vector<const char*>& metrics);
  Schedule schedule_added() const;

  struct Release {
    const CuptiProfiler* profiler;
    void operator()(CUpti_Profiler_Host_Object* host) const;
  };

  const CuptiProfiler* profiler_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::unique_ptr<CUpti_Profiler_Host_Object, Release> host_;
};

/// The texts as CUPTI takes them; they must outlive it.
std::vector<const char*> c_strings(std::span<const std::string> texts);

}  // namespace roofline
