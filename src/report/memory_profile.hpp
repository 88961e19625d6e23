// Memory of a program over time: what was in use on each GPU, and by which lines of the program. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// Source of the figures: PyTorch's caching allocator, or CUDA's own allocations (pools, for CuPy, JAX and RMM).
enum class MemorySource : std::uint8_t { torch, cuda };
std::string_view to_string(MemorySource source);
std::optional<MemorySource> parse_memory_source(std::string_view text);

/// The largest values of an interval that ends at that time.
struct MemoryPoint {
  double time_s = 0;  ///< seconds since the start of the recording
  double allocated = 0, reserved = 0;
};

/// Memory that one line allocated.
struct MemoryHolder {
  std::string line = {};    ///< "train.py:31 main"; empty: unknown
  std::string module = {};  ///< "blocks.*.mlp"; empty: none
  bool backward = false;
  std::int64_t blocks = 0;  ///< growth: over all steps considered
  double bytes = 0;         ///< growth: per step
};

inline double bytes_of(const std::vector<MemoryHolder>& holders) {
  double all = 0;
  for (const MemoryHolder& holder : holders) all += holder.bytes;
  return all;
}

/// Memory that is never freed again and becomes more all the time.
struct MemoryGrowth {
  double bytes = 0;    ///< growth within `seconds`
  double seconds = 0;  ///< from the first to the last interval considered
  double bytes_per_s = 0;
  std::optional<double> bytes_per_step = {};
  std::optional<double> seconds_until_full = {}, steps_until_full = {};  ///< after the end of the recording
  std::vector<MemoryHolder> kept = {};                                   ///< what stays of each step, largest first
};

/// A request that failed.
struct OutOfMemory {
  double time_s = 0;
  double requested = 0, allocated = 0, reserved = 0;
  std::string line = {};  ///< line of the failed request, or of the launch before it
};

/// Memory use of one process on one GPU.
struct GpuMemory {
  int device = 0;  ///< as in Profile::devices
  std::int64_t pid = 0;
  MemorySource source = MemorySource::cuda;
  double capacity = 0;  ///< bytes of the GPU; 0: unknown
  double peak_allocated = 0, peak_reserved = 0;
  double peak_s = 0;                   ///< when `peak_allocated` was reached
  double allocated = 0, reserved = 0;  ///< at the end of the last step or of the recording
  double outside = 0;                  ///< peak CUDA memory outside PyTorch's allocator: library contexts, NCCL
  std::vector<MemoryPoint> curve = {};
  double explained_s = 0, explained = 0;    ///< the recorded moment that `at_peak` is of, and what was allocated then
  std::vector<MemoryHolder> at_peak = {};   ///< the largest first; what is missing was allocated before recording
  std::vector<MemoryHolder> per_step = {};  ///< allocated in a step by line, freed or not
  std::vector<MemoryHolder> reserved_by = {};  ///< PyTorch only: lines at which its allocator reserved memory
  bool in_graphs = false;                      ///< graphs use what was reserved for them without allocating it
  std::optional<MemoryGrowth> growth = {};
  std::optional<OutOfMemory> out_of_memory = {};  ///< the last one
  std::int64_t failures = 0;
};

/// Memory of one process on the host.
struct HostMemory {
  std::int64_t pid = 0;
  std::string command = {};
  double capacity = 0;  ///< bytes of the machine; 0: unknown
  double peak = 0;      ///< resident bytes
  std::vector<MemoryPoint> curve =
      {};  ///< `reserved`: resident; `allocated`: of it, not shared with files or processes
  std::optional<MemoryGrowth> growth = {};
};

struct MemoryProfile {
  std::vector<GpuMemory> devices = {};
  std::vector<HostMemory> host = {};  ///< the largest first

  bool empty() const { return devices.empty() && host.empty(); }
};

}  // namespace roofline
