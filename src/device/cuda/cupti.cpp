// Where CUPTI lies, its table of functions, and its refusals in words.
#include "device/cuda/cupti.hpp"

#include <cupti_result.h>
#include <cupti_version.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

#include "model/error.hpp"

namespace roofline {
namespace {

/// The loader's own path first, then where toolkits put it.
std::vector<std::string> folders() {
  std::vector<std::string> places = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable)) {
      places.push_back(std::string(home) + "/lib64/");
      places.push_back(std::string(home) + "/extras/CUPTI/lib64/");
    }
  }
  for (const char* place : {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib/",
                            "/usr/lib/x86_64-linux-gnu/"}) {
    places.emplace_back(place);
  }
  return places;
}

bool bind(Cupti& table) {
  const SharedLibrary& library = *table.library;
  return library.bind(table.host_initialize, "cuptiProfilerHostInitialize") &&
         library.bind(table.host_deinitialize, "cuptiProfilerHostDeinitialize") &&
         library.bind(table.metric_properties, "cuptiProfilerHostGetMetricProperties") &&
         library.bind(table.add_metrics, "cuptiProfilerHostConfigAddMetrics") &&
         library.bind(table.config_size, "cuptiProfilerHostGetConfigImageSize") &&
         library.bind(table.config_image, "cuptiProfilerHostGetConfigImage") &&
         library.bind(table.passes, "cuptiProfilerHostGetNumOfPasses") &&
         library.bind(table.evaluate, "cuptiProfilerHostEvaluateToGpuValues") &&
         library.bind(table.initialize, "cuptiProfilerInitialize") &&
         library.bind(table.chip_name, "cuptiDeviceGetChipName") &&
         library.bind(table.availability, "cuptiProfilerGetCounterAvailability") &&
         library.bind(table.enable, "cuptiRangeProfilerEnable") &&
         library.bind(table.disable, "cuptiRangeProfilerDisable") &&
         library.bind(table.set_config, "cuptiRangeProfilerSetConfig") &&
         library.bind(table.start, "cuptiRangeProfilerStart") && library.bind(table.stop, "cuptiRangeProfilerStop") &&
         library.bind(table.push_range, "cuptiRangeProfilerPushRange") &&
         library.bind(table.pop_range, "cuptiRangeProfilerPopRange") &&
         library.bind(table.decode, "cuptiRangeProfilerDecodeData") &&
         library.bind(table.data_size, "cuptiRangeProfilerGetCounterDataSize") &&
         library.bind(table.data_initialize, "cuptiRangeProfilerCounterDataImageInitialize") &&
         library.bind(table.message, "cuptiGetErrorMessage");
}

/// CUPTI and its counter library of one folder, or nothing.
std::optional<Cupti> open_in(const std::string& folder) {
  Cupti found;
  const std::array<std::string, 1> host = {folder + "libnvperf_host.so"};
  const std::array<std::string, 2> names = {folder + fmt::format("libcupti.so.{}", CUDA_VERSION / 1000),
                                            folder + "libcupti.so"};
  found.counters = SharedLibrary::open(host);
  found.library = SharedLibrary::open(names);
  if (!found.library || !bind(found)) return std::nullopt;
  found.version = fmt::format("{}.{}", CUDA_VERSION / 1000, CUDA_VERSION / 10 % 100);
  return found;
}

/// What a person can do about a refusal; empty where there is nothing to say.
std::string remedy(CUptiResult status) {
  switch (status) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "run as root or with CAP_SYS_ADMIN, or have the driver loaded with NVreg_RestrictProfilingToAdminUsers=0";
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

}  // namespace

const Cupti& cupti() {
  static const Cupti table = [] {
    for (const std::string& folder : folders()) {
      if (auto found = open_in(folder)) return std::move(*found);
    }
    throw Error("CUPTI was not found", "install the CUDA Toolkit's CUPTI, or set CUDA_HOME to the toolkit");
  }();
  return table;
}

void check_cupti(CUptiResult status, const char* what) {
  if (status == CUPTI_SUCCESS) return;
  const char* message = nullptr;
  if (cupti().message(status, &message) != CUPTI_SUCCESS || message == nullptr) message = "no explanation";
  throw Error(fmt::format("{}: {} (CUPTI error {})", what, message, static_cast<int>(status)), remedy(status));
}

}  // namespace roofline
