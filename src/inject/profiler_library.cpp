#include "inject/profiler_library.hpp"

#include <cupti_result.h>
#include <dlfcn.h>

namespace roofline::inject {
namespace {

template <typename Function>
void bind(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw Refused{std::string(name) + " is missing: CUPTI 12.6 and a driver of its age are needed"};
}

/// What a person can do about a refusal.
const char* remedy(CUptiResult status) {
  switch (status) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return ": run as root or with CAP_SYS_ADMIN, or have the driver loaded with "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return ": another program holds the counters (a monitoring daemon such as DCGM, another profiler); stop it";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return ": confidential computing forbids counters";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return ": use a GPU that is not divided by MIG";
    default:
      return "";
  }
}

}  // namespace

void Profiler::check(CUptiResult status, const char* what) const {
  if (status == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  if (result_string(status, &text) != CUPTI_SUCCESS || text == nullptr) text = "no explanation";
  throw Refused{std::string(what) + ": " + text + " (CUPTI error " + std::to_string(static_cast<int>(status)) + ")" +
                remedy(status)};
}

Profiler bind_profiler(void* cupti) {
  Profiler table;
  bind(cupti, table.host_initialize, "cuptiProfilerHostInitialize");
  bind(cupti, table.host_deinitialize, "cuptiProfilerHostDeinitialize");
  bind(cupti, table.metric_properties, "cuptiProfilerHostGetMetricProperties");
  bind(cupti, table.add_metrics, "cuptiProfilerHostConfigAddMetrics");
  bind(cupti, table.config_size, "cuptiProfilerHostGetConfigImageSize");
  bind(cupti, table.config_image, "cuptiProfilerHostGetConfigImage");
  bind(cupti, table.passes, "cuptiProfilerHostGetNumOfPasses");
  bind(cupti, table.evaluate, "cuptiProfilerHostEvaluateToGpuValues");
  bind(cupti, table.initialize, "cuptiProfilerInitialize");
  bind(cupti, table.supported, "cuptiProfilerDeviceSupported");
  bind(cupti, table.chip_name, "cuptiDeviceGetChipName");
  bind(cupti, table.availability, "cuptiProfilerGetCounterAvailability");
  bind(cupti, table.enable, "cuptiRangeProfilerEnable");
  bind(cupti, table.disable, "cuptiRangeProfilerDisable");
  bind(cupti, table.set_config, "cuptiRangeProfilerSetConfig");
  bind(cupti, table.start, "cuptiRangeProfilerStart");
  bind(cupti, table.stop, "cuptiRangeProfilerStop");
  bind(cupti, table.push_range, "cuptiRangeProfilerPushRange");
  bind(cupti, table.pop_range, "cuptiRangeProfilerPopRange");
  bind(cupti, table.decode, "cuptiRangeProfilerDecodeData");
  bind(cupti, table.data_size, "cuptiRangeProfilerGetCounterDataSize");
  bind(cupti, table.data_initialize, "cuptiRangeProfilerCounterDataImageInitialize");
  bind(cupti, table.data_info, "cuptiRangeProfilerGetCounterDataInfo");
  bind(cupti, table.result_string, "cuptiGetResultString");
  return table;
}

Waiting bind_waiting(void* driver) {
  Waiting table;
  bind(driver, table.current_context, "cuCtxGetCurrent");
  bind(driver, table.context_device, "cuCtxGetDevice");
  bind(driver, table.event_create, "cuEventCreate");
  bind(driver, table.event_query, "cuEventQuery");
  bind(driver, table.context_record, "cuCtxRecordEvent");
  return table;
}

}  // namespace roofline::inject
