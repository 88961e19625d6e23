// Two tiny kernels that go around a timed batch: a gate that keeps the GPU waiting until everything is
// enqueued, and stamps that read clocks on every SM, from which the SM clock of the interval follows.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "device/cuda/handles.hpp"

namespace roofline {

/// One SM's clocks at one moment. Written in a single 16-byte store, so that the two belong together.
struct alignas(16) ClockStamp {
  std::uint64_t nanoseconds = 0;  ///< %globaltimer
  std::uint64_t cycles = 0;       ///< clock64()
};

/// Holds a stream back until open() is called, or for 20 ms at most, so that nothing can hang.
class Gate {
 public:
  Gate();
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Enqueues the wait.
  void close(cudaStream_t stream);
  void open() noexcept;

 private:
  PinnedMemory flag_;
  unsigned ticket_ = 0;
};

/// The SM clock over an interval, from stamps at both of its ends: Δcycles / Δ%globaltimer on the same SM,
/// the median over all SMs that were stamped twice. Needs no privilege and no NVML.
class ClockStamps {
 public:
  explicit ClockStamps(int sm_count);

  void enqueue_before(cudaStream_t stream) { enqueue(stream, 0); }
  void enqueue_after(cudaStream_t stream) { enqueue(stream, 1); }

  /// Once the stream has been waited for. std::nullopt when no SM gave a sensible pair.
  std::optional<double> clock_hz() const;

 private:
  void enqueue(cudaStream_t stream, int side);

  static constexpr int kMaxSms = 1024;  ///< %smid stays below this on every GPU known
  int sm_count_;
  PinnedMemory stamps_;
};

}  // namespace roofline
