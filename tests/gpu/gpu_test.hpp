// What the GPU tests share: one device for the whole run, and a skip with the reason where there is none.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/open.hpp"

namespace roofline {

/// Why there is no GPU to test on; empty when there is one.
inline std::string why_no_gpu() {
  const std::vector<DeviceListing> listings = list_cuda_devices();
  return listings.front().usable ? "" : listings.front().reason;
}

/// A test that needs a GPU.
class GpuTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    reason_ = why_no_gpu();
    if (reason_.empty()) device_ = open_cuda_device(0);
  }
  static void TearDownTestSuite() { device_.reset(); }

  void SetUp() override {
    if (!device_) GTEST_SKIP() << "no usable GPU: " << reason_;
  }

  static CudaDevice& gpu() { return as_cuda(*device_); }

 private:
  static inline std::unique_ptr<Device> device_;
  static inline std::string reason_;
};

}  // namespace roofline
