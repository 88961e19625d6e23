#include "cupti/profiler.hpp"

#include <cupti_result.h>
#include <dlfcn.h>

#include "model/error.hpp"

namespace roofline {

namespace {

bool is_refused(CUptiResult status) {
  return status == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
         status == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
}

}  // namespace

std::string cupti_message(void* library, CUptiResult status) {
  const char* text = nullptr;
  // The first is a sentence and the second a name, which older versions have.
  for (const char* function : {"cuptiGetErrorMessage", "cuptiGetResultString"}) {
    const auto describe = reinterpret_cast<CUptiResult (*)(CUptiResult, const char**)>(dlsym(library, function));
    if (describe != nullptr && describe(status, &text) == CUPTI_SUCCESS && text != nullptr) break;
    text = nullptr;
  }
  return std::string(text != nullptr ? text : "unknown error") + " (CUPTI error " +
         std::to_string(static_cast<int>(status)) + ")";
}

std::string cupti_remedy(CUptiResult status) {
  if (is_refused(status)) {
    return "run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
  }
  switch (status) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "another profiler is attached to this process: run without it";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "another program holds the counters (a monitoring daemon such as DCGM, another profiler): stop it";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "confidential computing forbids counters";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return "use a GPU that is not divided by MIG";
    default:
      return {};
  }
}

void check_cupti(void* library, CUptiResult status, const char* what) {
  if (status == CUPTI_SUCCESS) return;
  const std::string message = std::string(what) + ": " + cupti_message(library, status);
  if (is_refused(status)) throw PermissionError(message, cupti_remedy(status));
  throw Error(message, cupti_remedy(status));
}

void CuptiProfiler::check(CUptiResult status, const char* what) const { check_cupti(handle(), status, what); }

void CuptiProfiler::require() const {
  if (missing() == nullptr) return;
  throw Error(std::string(missing()) + " is missing", "install CUPTI 12.6 or newer, and a driver of its age");
}

std::string CuptiProfiler::chip_name(int device) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  check(initialize(&params), "initializing the profiler");
  ROOFLINE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = static_cast<std::size_t>(device);
  check(get_chip_name(&chip), "reading the chip's name");
  return chip.pChipName;
}

void CuptiProfiler::require_support(CUdevice device) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, support);
  support.cuDevice = device;
  support.api = CUPTI_PROFILER_RANGE_PROFILING;
  check(supported(&support), "asking whether this GPU's counters can be read");
  const auto forbids = [](CUpti_Profiler_Support_Level level) {
    return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED || level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
  };
  if (forbids(support.confidentialCompute)) throw Error("confidential computing forbids counters");
  if (forbids(support.vGpu)) throw Error("this virtual GPU forbids counters", "allow profiling on its host");
  if (forbids(support.architecture)) throw Error("CUPTI has no counters for this GPU's architecture");
  if (forbids(support.isSupported)) throw Error("CUPTI can't read this GPU's counters in its present configuration");
}

std::vector<std::uint8_t> CuptiProfiler::availability(CUcontext context) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  params.ctx = context;
  check(get_availability(&params), "asking which counters can be read");
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check(get_availability(&params), "asking which counters can be read");
  return image;
}

}  // namespace roofline
