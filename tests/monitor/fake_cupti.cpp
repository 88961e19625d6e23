// Every function that cupti/profiler.hpp and the PM sampler look for; those of the range profiler only have to be
// there.
#include "fake_cupti.hpp"

#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstring>

namespace {

FakeCupti state;
int object;  // whatever is pointed to

std::vector<std::string> added;

template <class Object>
Object* something() {
  return reinterpret_cast<Object*>(&object);
}

}  // namespace

extern "C" {

FakeCupti* fake_cupti() { return &state; }

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  added.clear();
  params->pHostObject = something<CUpti_Profiler_Host_Object>();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    if (state.unknown.count(params->ppMetricNames[i]) > 0) return CUPTI_ERROR_INVALID_PARAMETER;
    added.emplace_back(params->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = 1;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  params->numOfPasses = 1;
  for (const std::string& name : added) {
    if (state.second_pass.count(name) > 0) params->numOfPasses = 2;
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  const FakeSample& sample = state.decoded[params->rangeIndex];
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    const auto found = sample.values.find(params->ppMetricNames[i]);
    params->pMetricValues[i] = found == sample.values.end() ? 0 : found->second;
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  params->pChipName = "FK100";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* params) {
  params->counterAvailabilityImageSize = 1;
  return static_cast<CUptiResult>(state.availability_status);
}
CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  ++state.enabled;
  state.overflow = false;
  params->pPmSamplingObject = something<CUpti_PmSampling_Object>();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params*) {
  ++state.disabled;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  if (params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL && state.time_trigger_status != 0) {
    return static_cast<CUptiResult>(state.time_trigger_status);
  }
  state.interval = params->samplingInterval;
  state.trigger = params->triggerMode;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  if (state.slots == 0) state.slots = params->maxSamples;
  params->counterDataSize = 1;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingCounterDataImageInitialize(CUpti_PmSampling_CounterDataImage_Initialize_Params*) {
  state.decoded.clear();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  params->overflow = state.overflow ? 1 : 0;
  if (state.overflow) return CUPTI_ERROR_OUT_OF_MEMORY;
  params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  state.decoded = state.waiting;
  state.waiting.clear();
  if (state.decoded.size() > state.slots) {
    state.decoded.resize(state.slots);
    params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  params->numCompletedSamples = state.decoded.size();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  params->startTimestamp = state.decoded[params->sampleIndex].start_ns;
  params->endTimestamp = state.decoded[params->sampleIndex].end_ns;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetErrorMessage(CUptiResult, const char** message) {
  *message = "a fake refusal";
  return CUPTI_SUCCESS;
}

}  // extern "C"
