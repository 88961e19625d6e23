// A session of CUPTI's range profiler in one context, enabled until it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cupti/profiler.hpp"

namespace roofline {

enum class CountedRange : std::uint8_t {
  user,   ///< between begin_range() and end_range(); CUPTI does not wait for a launch
  kernel  ///< each kernel, for which CUPTI waits: the only one that sees instrumented counts without replay by the
          ///< caller
};

/// Every call but the destructor may throw Error. A session keeps the metrics of its first configuration.
class CuptiRangeSession {
 public:
  /// nullptr: the current context.
  explicit CuptiRangeSession(const CuptiProfiler& profiler, CUcontext context = nullptr);
  ~CuptiRangeSession();
  CuptiRangeSession(const CuptiRangeSession&) = delete;
  CuptiRangeSession& operator=(const CuptiRangeSession&) = delete;

  /// Before start(). `config` is of CuptiHost's making and of these metrics; `room`: ranges in a pass, at most.
  void configure(std::vector<const char*> metrics, std::span<const std::uint8_t> config, std::size_t room,
                 CountedRange range);
  /// Begins a pass. Takes up to a quarter of a second.
  void start();
  /// Ranges keep the order in which they begin. Their names differ within a pass and repeat from pass to pass.
  void begin_range(const std::string& name);
  void end_range();
  /// Ends a pass. Whether it was the last one.
  bool stop();
  bool started() const { return started_; }
  /// Waits for the GPU; returns how many ranges data() has.
  std::size_t decode();
  /// The counter data image.
  std::span<const std::uint8_t> data() const { return data_; }

 private:
  const CuptiProfiler& profiler_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<std::uint8_t> data_;
  bool started_ = false;
};

}  // namespace roofline
