// What counting needs of CUPTI and of the driver, found at run time.
#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

namespace roofline::inject {

/// A call that CUPTI or the driver has refused.
struct Refused {
  std::string reason;  ///< what, why, and what would help
};

struct Profiler {
  // Names and plans. Needs neither GPU nor driver.
  decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&cuptiProfilerHostGetMetricProperties) metric_properties = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) config_image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) passes = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  // The device.
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiProfilerDeviceSupported) supported = nullptr;
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
  decltype(&cuptiRangeProfilerGetCounterDataInfo) data_info = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;

  /// Throws Refused unless `status` is success.
  void check(CUptiResult status, const char* what) const;
};

/// From a library that is loaded. Throws Refused where it lacks something.
Profiler bind_profiler(void* cupti);

/// The driver's calls around a counted launch.
struct Waiting {
  decltype(&cuCtxGetCurrent) current_context = nullptr;
  decltype(&cuCtxGetDevice) context_device = nullptr;
  decltype(&cuEventCreate) event_create = nullptr;
  decltype(&cuEventQuery) event_query = nullptr;
  CUresult (*context_record)(CUcontext, CUevent) = nullptr;  ///< of CUDA 12.5
};
Waiting bind_waiting(void* driver);

/// A parameter block of CUPTI's, with its size filled in and everything else zero.
#define ROOFLINE_PROFILER_PARAMS(Type, name) \
  Type name = {};                            \
  name.structSize = Type##_STRUCT_SIZE

}  // namespace roofline::inject
