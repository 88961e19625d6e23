// Calls of the driver from nested functions, each on a line with a mark. Compiled with and without frame pointers, with
// optimisation and without calls that replace their caller.
#include <cuda.h>
#include <ucontext.h>

#include <array>
#include <thread>
#include <vector>

#include "fake_gpu.hpp"

#define NOINLINE __attribute__((noinline))

namespace {

FakeFunction plain = {"plain", 0, {}, false};
FakeFunction scale_kernel = {"_Z5scalePf", 0, {}, false};

}  // namespace

// As CUDA's runtime that is linked statically, and the functions that nvcc makes of a kernel.
extern "C" NOINLINE void cudaLaunchOfRuntime(unsigned grid);
extern "C" NOINLINE void cudaLaunchOfRuntime(unsigned grid) {
  cuLaunchKernel(reinterpret_cast<CUfunction>(&scale_kernel), grid, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr);
}
NOINLINE void __device_stub__Z5scalePf(unsigned grid);
NOINLINE void __device_stub__Z5scalePf(unsigned grid) { cudaLaunchOfRuntime(grid); }
NOINLINE void scale(float* data);
NOINLINE void scale(float* data) { __device_stub__Z5scalePf(data != nullptr ? 2 : 1); }

NOINLINE void inner(unsigned grid);
NOINLINE void inner(unsigned grid) {
  cuLaunchKernel(reinterpret_cast<CUfunction>(&plain), grid, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr);  // inner
}

NOINLINE void recursive(unsigned depth);
NOINLINE void recursive(unsigned depth) {
  if (depth > 0) recursive(depth - 1);
  inner(depth + 1);
}

/// Its frame has another size each time.
NOINLINE void variable(unsigned size);
NOINLINE void variable(unsigned size) {
  auto* const bytes = static_cast<volatile char*>(__builtin_alloca(size));
  bytes[size - 1] = 0;
  inner(size);
}

inline __attribute__((always_inline)) CUdeviceptr allocated() {
  CUdeviceptr data = 0;
  cuMemAlloc_v2(&data, 1 << 20);  // allocation
  return data;
}

NOINLINE void transfer();
NOINLINE void transfer() {
  const std::array<char, 16> data = {};
  const CUdeviceptr to = allocated();
  cuMemcpyHtoDAsync_v2(to, data.data(), data.size(), nullptr);  // copy
  cuMemsetD8Async(to, 0, 8, nullptr);                           // fill
  cuStreamSynchronize(nullptr);                                 // wait
}

namespace {

ucontext_t outside, fiber;

void in_fiber() { inner(7); }

/// On a stack that is not the thread's.
void run_fiber() {
  static std::vector<char> stack(1 << 18);
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack.data();
  fiber.uc_stack.ss_size = stack.size();
  fiber.uc_link = &outside;
  makecontext(&fiber, in_fiber, 0);
  swapcontext(&outside, &fiber);
}

}  // namespace

int main() {
  cuInit(0);
  for (int round = 0; round < 3; ++round) {
    inner(1);
    recursive(4);
    for (const unsigned size : {100U, 1000U, 5000U}) variable(size);
    scale(nullptr);  // first kernel
    float value = 0;
    scale(&value);  // second kernel
    transfer();
  }
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int count = 0; count < 100; ++count) inner(3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  run_fiber();
}
