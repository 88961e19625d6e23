// CUPTI's profiler, loaded at run time: nothing of it is needed to start, and what it refuses is said in one line.
#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <memory>
#include <string>

#include "device/cuda/shared_library.hpp"

namespace roofline {

struct Cupti {
  std::unique_ptr<SharedLibrary> counters;  ///< libnvperf_host, which CUPTI looks for by its bare name
  std::unique_ptr<SharedLibrary> library;
  std::string version;  ///< "13.0"

  // The host half: names and plans. Needs neither GPU nor driver.
  decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&cuptiProfilerHostGetMetricProperties) metric_properties = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) config_image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) passes = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  // The device's half.
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) availability = nullptr;
  decltype(&cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
  decltype(&cuptiRangeProfilerStart) start = nullptr;
  decltype(&cuptiRangeProfilerStop) stop = nullptr;
  decltype(&cuptiRangeProfilerPushRange) push_range = nullptr;
  decltype(&cuptiRangeProfilerPopRange) pop_range = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) decode = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) data_size = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) data_initialize = nullptr;
  decltype(&cuptiGetErrorMessage) message = nullptr;
};

/// Throws Error where CUPTI is missing or too old, saying what would help.
const Cupti& cupti();

/// Throws Error unless `status` is success: what was being done, why it was refused, and what would allow it.
void check_cupti(CUptiResult status, const char* what);

/// A parameter block of CUPTI's, with its size filled in and everything else zero.
#define ROOFLINE_CUPTI_PARAMS(Type, name) \
  Type name = {};                         \
  name.structSize = Type##_STRUCT_SIZE

}  // namespace roofline
