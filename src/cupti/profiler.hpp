// CUPTI's functions for counters, and its errors as sentences.
#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/shared_library.hpp"

namespace roofline {

/// Functions by their names without the prefix. CUPTI has all of them since 12.6.
struct CuptiProfiler : SharedLibrary {
  using SharedLibrary::SharedLibrary;

  // The host half: metrics and configurations. Needs neither GPU nor driver.
  decltype(&cuptiProfilerHostInitialize) host_initialize = symbol("cuptiProfilerHostInitialize");
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = symbol("cuptiProfilerHostDeinitialize");
  decltype(&cuptiProfilerHostGetMetricProperties) metric_properties = symbol("cuptiProfilerHostGetMetricProperties");
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = symbol("cuptiProfilerHostConfigAddMetrics");
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = symbol("cuptiProfilerHostGetConfigImageSize");
  decltype(&cuptiProfilerHostGetConfigImage) config_image = symbol("cuptiProfilerHostGetConfigImage");
  decltype(&cuptiProfilerHostGetNumOfPasses) passes = symbol("cuptiProfilerHostGetNumOfPasses");
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = symbol("cuptiProfilerHostEvaluateToGpuValues");
  // The target half: a device.
  decltype(&cuptiProfilerInitialize) initialize = symbol("cuptiProfilerInitialize");
  decltype(&cuptiProfilerDeviceSupported) supported = symbol("cuptiProfilerDeviceSupported");
  decltype(&cuptiDeviceGetChipName) get_chip_name = symbol("cuptiDeviceGetChipName");
  decltype(&cuptiProfilerGetCounterAvailability) get_availability = symbol("cuptiProfilerGetCounterAvailability");
  decltype(&cuptiRangeProfilerEnable) enable = symbol("cuptiRangeProfilerEnable");
  decltype(&cuptiRangeProfilerDisable) disable = symbol("cuptiRangeProfilerDisable");
  decltype(&cuptiRangeProfilerSetConfig) set_config = symbol("cuptiRangeProfilerSetConfig");
  decltype(&cuptiRangeProfilerStart) start = symbol("cuptiRangeProfilerStart");
  decltype(&cuptiRangeProfilerStop) stop = symbol("cuptiRangeProfilerStop");
  decltype(&cuptiRangeProfilerPushRange) push_range = symbol("cuptiRangeProfilerPushRange");
  decltype(&cuptiRangeProfilerPopRange) pop_range = symbol("cuptiRangeProfilerPopRange");
  decltype(&cuptiRangeProfilerDecodeData) decode = symbol("cuptiRangeProfilerDecodeData");
  decltype(&cuptiRangeProfilerGetCounterDataSize) data_size = symbol("cuptiRangeProfilerGetCounterDataSize");
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) data_initialize =
      symbol("cuptiRangeProfilerCounterDataImageInitialize");
  decltype(&cuptiRangeProfilerGetCounterDataInfo) data_info = symbol("cuptiRangeProfilerGetCounterDataInfo");

  /// Throws Error unless `status` is success; `what` says what was being done.
  void check(CUptiResult status, const char* what) const;
  /// Throws Error where a function is missing.
  void require() const;

  /// The chip of that device as CUPTI spells it ("GH100"). Initializes the profiler. Throws Error.
  std::string chip_name(int device) const;
  /// Throws Error with the reason where this device's counters can't be read. After chip_name().
  void require_support(CUdevice device) const;
  /// The counter availability image of a context's device; nullptr: the current one. Throws Error.
  std::vector<std::uint8_t> availability(CUcontext context = nullptr) const;
};

/// "insufficient privileges (CUPTI error 35)".
std::string cupti_message(void* library, CUptiResult status);
/// What a person can do about an error; empty where there is nothing to say.
std::string cupti_remedy(CUptiResult status);
/// Throws Error unless `status` is success.
void check_cupti(void* library, CUptiResult status, const char* what);

/// A parameter block of CUPTI's, with its size filled in and everything else zero.
#define ROOFLINE_CUPTI_PARAMS(Type, name) \
  Type name = {};                         \
  name.structSize = Type##_STRUCT_SIZE

}  // namespace roofline
