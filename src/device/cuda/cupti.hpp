// CUPTI's profiler, loaded at run time: nothing of it is needed to start, and what it refuses is said in one line.
#pragma once

#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <memory>
#include <string>

#include "device/cuda/shared_library.hpp"

namespace roofline {

struct Cupti : SharedLibrary {
  using SharedLibrary::SharedLibrary;

  std::unique_ptr<SharedLibrary> counters;  ///< libnvperf_host, which CUPTI looks for by its bare name
  std::string version;                      ///< "13.0"

  // The host half: names and plans. Needs neither GPU nor driver.
  decltype(&cuptiProfilerHostInitialize) host_initialize = symbol("cuptiProfilerHostInitialize");
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = symbol("cuptiProfilerHostDeinitialize");
  decltype(&cuptiProfilerHostGetMetricProperties) metric_properties = symbol("cuptiProfilerHostGetMetricProperties");
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = symbol("cuptiProfilerHostConfigAddMetrics");
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = symbol("cuptiProfilerHostGetConfigImageSize");
  decltype(&cuptiProfilerHostGetConfigImage) config_image = symbol("cuptiProfilerHostGetConfigImage");
  decltype(&cuptiProfilerHostGetNumOfPasses) passes = symbol("cuptiProfilerHostGetNumOfPasses");
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = symbol("cuptiProfilerHostEvaluateToGpuValues");
  // The device's half.
  decltype(&cuptiProfilerInitialize) initialize = symbol("cuptiProfilerInitialize");
  decltype(&cuptiDeviceGetChipName) chip_name = symbol("cuptiDeviceGetChipName");
  decltype(&cuptiProfilerGetCounterAvailability) availability = symbol("cuptiProfilerGetCounterAvailability");
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
  decltype(&cuptiPmSamplingGetCounterAvailability) pm_availability = symbol("cuptiPmSamplingGetCounterAvailability");
  decltype(&cuptiPmSamplingEnable) pm_enable = symbol("cuptiPmSamplingEnable");
  decltype(&cuptiPmSamplingDisable) pm_disable = symbol("cuptiPmSamplingDisable");
  decltype(&cuptiPmSamplingSetConfig) pm_set_config = symbol("cuptiPmSamplingSetConfig");
  decltype(&cuptiPmSamplingStart) pm_start = symbol("cuptiPmSamplingStart");
  decltype(&cuptiPmSamplingStop) pm_stop = symbol("cuptiPmSamplingStop");
  decltype(&cuptiPmSamplingDecodeData) pm_decode = symbol("cuptiPmSamplingDecodeData");
  decltype(&cuptiPmSamplingGetCounterDataSize) pm_data_size = symbol("cuptiPmSamplingGetCounterDataSize");
  decltype(&cuptiPmSamplingCounterDataImageInitialize) pm_data_initialize =
      symbol("cuptiPmSamplingCounterDataImageInitialize");
  decltype(&cuptiPmSamplingGetCounterDataInfo) pm_data_info = symbol("cuptiPmSamplingGetCounterDataInfo");
  decltype(&cuptiPmSamplingCounterDataGetSampleInfo) pm_sample_info = symbol("cuptiPmSamplingCounterDataGetSampleInfo");
  decltype(&cuptiGetErrorMessage) message = symbol("cuptiGetErrorMessage");
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
