// CUPTI's host half for one chip: which metrics it has, how many passes they take, what was counted of them. Needs no
// GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/cupti.hpp"

namespace roofline {

/// The chip of that CUDA device, as CUPTI spells it ("GH100"). Opens the profiler; throws Error where it is refused.
std::string profiled_chip(int device);

class CuptiHost {
 public:
  /// `availability` is the image of a device, which leaves out what it doesn't let be counted; empty for all that the
  /// chip has. Throws Error when CUPTI is missing or doesn't know the chip.
  CuptiHost(CUpti_ProfilerType type, std::string chip, std::span<const std::uint8_t> availability);

  const std::string& chip() const { return chip_; }
  bool has(const std::string& metric) const;

  struct Schedule {
    std::vector<std::uint8_t> image;  ///< what a profiler is configured with
    std::size_t passes = 0;
  };
  /// Of these metrics and of those that were given before. Throws Error where one of them is unknown.
  Schedule schedule(std::vector<const char*> metrics) const;

  /// Their values in one range or sample of a counter data image.
  std::vector<double> evaluate(std::vector<const char*> metrics, std::span<const std::uint8_t> counter_data,
                               std::size_t index) const;

 private:
  struct Release {
    void operator()(CUpti_Profiler_Host_Object* host) const;
  };

  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::unique_ptr<CUpti_Profiler_Host_Object, Release> host_;
};

}  // namespace roofline
