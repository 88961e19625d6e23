// Owners of CUDA's handles: made in a constructor, given back in a destructor, moved but never copied.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "device/cuda/check.hpp"

namespace roofline {

/// Owns one handle that `destroy` releases. The destructor ignores errors: the next checked call reports a broken
/// context.
template <typename Handle, cudaError_t (*destroy)(Handle)>
class CudaHandle {
 public:
  CudaHandle() = default;
  explicit CudaHandle(Handle handle) : handle_(handle) {}
  CudaHandle(CudaHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  CudaHandle& operator=(CudaHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  CudaHandle(const CudaHandle&) = delete;
  CudaHandle& operator=(const CudaHandle&) = delete;
  ~CudaHandle() {
    if (handle_ != nullptr) static_cast<void>(destroy(handle_));
  }

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using Stream = CudaHandle<cudaStream_t, cudaStreamDestroy>;
using Event = CudaHandle<cudaEvent_t, cudaEventDestroy>;
using Graph = CudaHandle<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = CudaHandle<cudaGraphExec_t, cudaGraphExecDestroy>;
using DeviceMemory = CudaHandle<void*, cudaFree>;
using PinnedMemory = CudaHandle<void*, cudaFreeHost>;

/// Makes a device the current one of this thread, for as long as it lives: where memory, streams and events are made,
/// and kernels are launched.
class CurrentDevice {
 public:
  explicit CurrentDevice(int index) {
    check(cudaGetDevice(&before_), "reading the current GPU");
    if (before_ != index) check(cudaSetDevice(index), "selecting a GPU");
  }
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

/// A stream that doesn't wait for the legacy default stream.
inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return Stream(stream);
}

/// An event that keeps its time.
inline Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "creating an event");
  return Event(event);
}

/// An event that only orders: between streams, also of several devices.
inline Event make_ordering_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  return Event(event);
}

/// Device memory for workspaces and the like; at least one byte.
inline DeviceMemory make_device_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes == 0 ? 1 : bytes), "allocating device memory");
  return DeviceMemory(memory);
}

/// Page-locked host memory that kernels can write to.
inline PinnedMemory make_pinned_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "allocating pinned memory");
  return PinnedMemory(memory);
}

}  // namespace roofline
