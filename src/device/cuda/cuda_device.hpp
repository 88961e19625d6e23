// A CUDA GPU as a device: one primary context, and one stream in which all work runs in order. The device that was
// opened first is the current device of its thread; its ranks become current as needed.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "device/device.hpp"

namespace roofline {

class Communicators;
class CublasHandle;
class Nvml;
class Rendezvous;

/// What kernels and formulas ask about a GPU, read once.
struct CudaProperties {
  int index = 0;
  int major = 0;
  int minor = 0;
  int sm_count = 0;
  int threads_per_sm = 0;
  int shared_bytes_per_block = 0;  ///< with opt-in
  int shared_bytes_per_sm = 0;
  double l2_bytes = 0;
  double memory_bytes = 0;
  double max_core_hz = 0;    ///< 0 if the driver does not report it
  double max_memory_hz = 0;  ///< 0 if the driver does not report it
  int memory_bus_bits = 0;   ///< 0 if the driver does not report it
};

/// Reads the properties of CUDA device `index`; makes no context.
CudaProperties cuda_properties(int index);

/// The identity and attributes of a GPU, as listed and kept. `nvml` may be null.
DeviceInfo describe_cuda_device(const CudaProperties& properties, const Nvml* nvml);

class CudaDevice final : public Device {
 public:
  /// Makes the context. With `others`, it is the rank of one process among theirs. Throws DeviceError when the device
  /// can't be used.
  explicit CudaDevice(int index, std::shared_ptr<Rendezvous> others = nullptr);
  ~CudaDevice() override;

  const DeviceInfo& info() const override;
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override;
  double free_memory_bytes() const override;
  void upload(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void fill(void* device, std::byte value, std::size_t bytes) override;
  void synchronize() override;
  void run_profiled(const std::function<void()>& launch) override;
  std::unique_ptr<Timer> timer(LaunchFunction launch) override;
  double timer_resolution_s() const override { return 0.5e-6; }
  Clocks clocks() override;
  PowerReading power() override;
  std::function<Contention()> watch_contention(int threads = 0) override;
  /// The GPUs that this process sees: this one, and then the others by their numbers, round to the first. Or those of
  /// the processes that it works with, one each.
  int ranks() const override;
  bool holds(int rank) const override;
  Device& rank(int number) override;
  std::vector<std::string> exchange(int ranks, const std::string& mine) override;
  std::unique_ptr<Timer> timer_of_ranks(LaunchFunction launch, int ranks) override;

  /// The stream that every launch goes to.
  cudaStream_t stream() const;
  const CudaProperties& properties() const;
  /// Null without NVML.
  const Nvml* nvml() const;
  /// The cuBLAS of this device, made at first use. Throws Error if the library is missing.
  CublasHandle& cublas();
  /// Memory of at least that size, in the same pages at each call: the rate of a set in L2 depends on where its pages
  /// are. Contents are those of the previous use. Throws as allocate() does.
  std::shared_ptr<Buffer> scratch(std::size_t bytes);
  /// Communicators of the first `ranks` ranks, made at first use. Throws Error if NCCL is missing.
  Communicators& communicators(int ranks);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The GPU behind a device. Throws Error when it is another kind.
CudaDevice& as_cuda(Device& device);
const CudaDevice& as_cuda(const Device& device);

}  // namespace roofline
