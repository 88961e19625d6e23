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

/// CUPTI and its counter library of one folder, or nothing.
std::unique_ptr<Cupti> open_in(const std::string& folder) {
  const std::array<std::string, 1> host = {folder + "libnvperf_host.so"};
  const std::array<std::string, 2> names = {folder + fmt::format("libcupti.so.{}", CUDA_VERSION / 1000),
                                            folder + "libcupti.so"};
  auto counters = std::make_unique<SharedLibrary>(host);
  auto found = std::make_unique<Cupti>(names);
  if (!found->complete()) return nullptr;
  found->counters = std::move(counters);
  found->version = fmt::format("{}.{}", CUDA_VERSION / 1000, CUDA_VERSION / 10 % 100);
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
  static const std::unique_ptr<Cupti> table = [] {
    for (const std::string& folder : folders()) {
      if (auto found = open_in(folder)) return found;
    }
    throw Error("CUPTI was not found", "install the CUDA Toolkit's CUPTI, or set CUDA_HOME to the toolkit");
  }();
  return *table;
}

void check_cupti(CUptiResult status, const char* what) {
  if (status == CUPTI_SUCCESS) return;
  const char* message = nullptr;
  if (cupti().message(status, &message) != CUPTI_SUCCESS || message == nullptr) message = "no explanation";
  throw Error(fmt::format("{}: {} (CUPTI error {})", what, message, static_cast<int>(status)), remedy(status));
}

}  // namespace roofline
