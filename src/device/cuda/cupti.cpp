#include "device/cuda/cupti.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>

#include "cupti/library.hpp"
#include "model/error.hpp"

namespace roofline {

const CuptiProfiler& cupti() {
  static const std::unique_ptr<const CuptiProfiler> table = [] {
    int version = 0;  // without a driver configurations can still be made
    if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) version = CUDA_VERSION;
    const CuptiLibrary found =
        find_cupti(version / 1000, [](void* handle) { return CuptiProfiler(handle).complete(); });
    if (found.handle == nullptr) throw Error(kCuptiNotFound, kCuptiRemedy);
    return std::make_unique<const CuptiProfiler>(found.handle);
  }();
  return *table;
}

std::string counter_source(const std::string& chip) {
  return fmt::format("CUPTI {}.{} on {}", CUDA_VERSION / 1000, CUDA_VERSION / 10 % 100, chip);
}

}  // namespace roofline
