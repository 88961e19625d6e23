// The CPU as a device: hwloc topology, pinned workers, memory touched first by the worker that uses it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/cpu/isa.hpp"
#include "device/cpu/thread_pool.hpp"
#include "device/cpu/topology.hpp"
#include "device/device.hpp"

namespace roofline {

class CpuDevice final : public Device {
 public:
  /// Workers as place_threads() places them for `options`. Kernels run at level `isa`, which this CPU must have. Tests
  /// give it the topology of a machine that is the same everywhere, on CPUs that this process may use. Throws
  /// UsageError when there are no such CPUs.
  explicit CpuDevice(const DeviceOptions& options, Isa isa = best_isa(), const Topology& topology = host_topology());
  ~CpuDevice() override;

  const DeviceInfo& info() const override;
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override;
  double free_memory_bytes() const override;
  /// Free when the device was opened, and no more than the topology has. Plans of working sets are made of it, so that
  /// plans that are made one after the other agree.
  double free_memory_at_opening() const;
  std::optional<double> measured_cache_bytes() const override;
  /// Sets measured_cache_bytes(), but to no less than the size of the caches before the last level. `bytes` at or above
  /// the reported size resets it to std::nullopt.
  void set_measured_cache_bytes(double bytes);
  void upload(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void fill(void* device, std::byte value, std::size_t bytes) override;
  void synchronize() override {}
  std::unique_ptr<Timer> timer(LaunchFunction launch) override;
  double timer_resolution_s() const override;
  Clocks clocks() override;
  PowerReading power() override;
  void run_as_timed(const std::function<void()>& launch) override;
  std::function<Contention()> watch_contention(int threads = 0) override;

  /// Buffers allocated from now on get no huge pages (false), or as the system grants them (true, the default).
  void use_huge_pages(bool use);

  ThreadPool& pool();
  Isa isa() const;
  const CpuName& name() const;  ///< of the first worker's core
  const Topology& topology() const;

  /// The logical CPU of each worker, in the workers' order.
  const std::vector<int>& cpus() const;

  /// Memory of at least that size whose pages stay mapped between calls: mapping and zeroing a GiB takes a quarter of a
  /// second, and a calibration needs it fifty times. Worker w touched the w-th part of it first. Contents are those of
  /// the previous use. Throws as allocate() does.
  std::shared_ptr<Buffer> scratch(std::size_t bytes);

  /// Physical cores under the workers: two workers on one core share its FMA pipes and its L1.
  int cores() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The CPU behind a device. Throws Error when it is another kind.
CpuDevice& as_cpu(Device& device);
const CpuDevice& as_cpu(const Device& device);

}  // namespace roofline
