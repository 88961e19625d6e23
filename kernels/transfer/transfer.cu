// Transfers between host and GPU. The host buffer belongs to the implementation.
//   pageable  pageable memory: the driver stages it through pinned buffers of its own
//   pinned    pinned memory: the GPU's copy engine accesses it directly
#include <cstring>
#include <memory>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/blocks/cuda/cuda_launch.hpp"
#include "op/registry.hpp"

namespace roofline::transfer_cuda {
namespace {

enum class Variant { pageable, pinned };

class HostBuffer {
 public:
  HostBuffer(std::size_t bytes, Variant variant) : bytes_(bytes) {
    if (variant == Variant::pinned) {
      pinned_ = make_pinned_memory(bytes);
    } else {
      pageable_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    }
  }
  void* data() const { return pageable_ ? pageable_.get() : pinned_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  PinnedMemory pinned_;
  std::unique_ptr<std::byte[]> pageable_;
  std::size_t bytes_;
};

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "querying stream capture");
  return status != cudaStreamCaptureStatusNone;
}

void copy(void* to, const void* from, const HostBuffer& host, cudaMemcpyKind kind, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, host.bytes(), kind, stream), "copying over the link");
}

/// Timed launches are captured and consist of one copy over the link. A launch that runs immediately, as the
/// verified one does, first writes x to the source of the copy, or afterwards the received data to y.
void upload(const HostBuffer& host, const void* x, void* y, CudaDevice& device) {
  if (!is_captured(device.stream())) device.download(host.data(), x, host.bytes());
  copy(y, host.data(), host, cudaMemcpyHostToDevice, device.stream());
}

void download(const HostBuffer& host, const void* x, void* y, CudaDevice& device) {
  const bool at_once = !is_captured(device.stream());
  if (at_once) std::memset(host.data(), 0xFF, host.bytes());  // NaNs, so that an incomplete copy is detected
  copy(host.data(), x, host, cudaMemcpyDeviceToHost, device.stream());
  if (!at_once) return;
  device.synchronize();
  device.upload(y, host.data(), host.bytes());
}

Kernel prepare(const Workload& workload, Device& device, Variant variant) {
  const auto bytes = static_cast<std::size_t>(workload.shape["n"] * element_size(workload.dtype));
  const auto host = std::make_shared<const HostBuffer>(bytes, variant);
  const bool to_host = workload.shape.contains("to_host") && workload.shape["to_host"] == 1;
  return [host, to_host, &cuda = as_cuda(device)](std::span<void* const> tensors) {
    if (to_host) {
      download(*host, tensors[0], tensors[1], cuda);
    } else {
      upload(*host, tensors[0], tensors[1], cuda);
    }
  };
}

const ImplementationRegistrar kRegistrar(
    "transfer",
    {cuda_implementation("pageable", "pageable host memory, staged by the driver", prepare, Variant::pageable),
     cuda_implementation("pinned", "pinned host memory, direct DMA by the copy engine", prepare, Variant::pinned)});

}  // namespace
}  // namespace roofline::transfer_cuda
