// Which GPU the CUDA calls of this thread are for.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/check.hpp"

namespace roofline {

/// Makes another GPU current, for as long as it lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(int index) {
    check(cudaGetDevice(&before_), "asking for the current GPU");
    check(cudaSetDevice(index), "changing to another GPU");
  }
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace roofline
