// What a device is to the rest of the program: an identity, memory, and a way to time a batch of
// launches. Implemented by device/cpu and device/cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/sampler.hpp"
#include "model/contention.hpp"
#include "model/machine.hpp"

namespace roofline {

/// Device memory, freed with the object. 256-byte aligned at least.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* data() = 0;
  virtual std::size_t size() const = 0;
};

/// Enqueues (GPU) or runs (CPU) the launch of that number within a batch.
using LaunchFunction = std::function<void(std::int64_t launch)>;

/// A batch of launches that can be timed again and again.
class Timer {
 public:
  virtual ~Timer() = default;
  /// Runs launches 0 … n-1 back to back and returns their time. On a GPU the first call for an n
  /// captures a graph, and every call replays it between two events.
  virtual Reading time(std::int64_t launches) = 0;
};

/// What a device's own sensors say at one moment.
struct PowerReading {
  std::optional<double> energy_j;  ///< since some moment in the past; only differences mean anything
  std::optional<double> temperature_c;
  std::optional<std::string> limiter;  ///< what holds the clock down now; empty text: nothing does
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  /// Throws Error, with the bytes asked for and free, when they are not to be had.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;
  virtual double free_memory_bytes() const = 0;

  /// Synchronous copies and fills.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* device, std::byte value, std::size_t bytes) = 0;

  /// Waits for all enqueued work; throws Error if any of it failed.
  virtual void synchronize() = 0;

  /// Runs `launch` and waits. A vendor's profiler that is attached and listens to such marks (`ncu --profile-from-start
  /// off`) collects meanwhile.
  virtual void run_profiled(const std::function<void()>& launch) {
    launch();
    synchronize();
  }

  /// Runs `launch` once as a timer runs it, for results that are to be those of timed launches: on a CPU on the same
  /// pinned thread. On a GPU it enqueues.
  virtual void run_as_timed(const std::function<void()>& launch) { launch(); }

  /// A timer of `launch` on this device. On a GPU, `launch` must only enqueue (it is captured).
  virtual std::unique_ptr<Timer> timer(LaunchFunction launch) = 0;

  /// Seconds that this device's timer resolves.
  virtual double timer_resolution_s() const = 0;

  /// Current clocks, if readable.
  virtual Clocks clocks() = 0;

  /// Energy so far, current temperature and limiter, each if readable. Empty by default.
  virtual PowerReading power() { return {}; }

  /// Maximum number of ranks of a collective: devices that can work together, including this one.
  virtual int ranks() const { return 1; }

  /// True if that rank's device is this process's. The others are held by processes that run the same command beside
  /// it, and go through the same steps of a workload that has such ranks.
  virtual bool holds(int rank) const { return rank >= 0 && rank < ranks(); }

  /// The device of a rank that this process holds; this one is the first of them. Throws Error, with the reason, when
  /// it can't be opened.
  virtual Device& rank(int number);

  /// The texts of all processes that hold one of the first `ranks` ranks, in their order. Each gives its own, of
  /// kMostExchanged bytes at most, and waits for those of the others.
  virtual std::vector<std::string> exchange(int ranks, const std::string& mine);
  static constexpr std::size_t kMostExchanged = 4000;

  /// A timer of launches in which the first `ranks` ranks take part: all of their processes time the same batches.
  virtual std::unique_ptr<Timer> timer_of_ranks(LaunchFunction launch, int ranks);

  /// Starts watching for contention; the function returns the contention since then, if readable. On a CPU only the
  /// CPUs of the first `threads` workers count (0: of all). None by default.
  virtual std::function<Contention()> watch_contention(int /*threads*/ = 0) {
    return [] { return Contention{}; };
  }

  /// Bytes of the last cache level before main memory; on a CPU of the level that holds most, as a last level that is
  /// smaller than those before it (some servers' L3) is not all that main memory has to be told from.
  double last_level_cache_bytes() const;

  /// Measured size of the caches before main memory, in bytes, if less than they report: a virtual machine has a part
  /// of its host's cache. std::nullopt if not measured.
  virtual std::optional<double> measured_cache_bytes() const { return std::nullopt; }
};

/// Bytes of all caches of a level together.
double cache_bytes(const DeviceInfo& device, Level level);

/// Bytes of the caches nearer to the cores than that level: those of the level that holds most.
double nearer_cache_bytes(const DeviceInfo& device, Level level);

/// Why a device can't be used; one value for each remedy.
enum class DeviceProblem : std::uint8_t { none, build_without_cuda, no_driver, other };

/// A device as `roofline devices` lists it: usable, or the reason why it is not.
struct DeviceListing {
  DeviceInfo info;
  bool usable = true;
  std::string reason;
  DeviceProblem problem = DeviceProblem::none;
};

struct DeviceOptions {
  int threads = 0;             ///< CPU worker threads; 0 means all (performance) cores
  std::vector<int> cpus = {};  ///< logical CPUs that they are pinned to; empty: those that place_threads chooses
};

/// Every device of this machine, the CPU last; a CUDA build without driver or GPU says so in a listing.
std::vector<DeviceListing> list_devices(const DeviceOptions& options);

/// Opens a device. Throws DeviceError (exit code 4), with the reason and what to do, when it can't be used.
std::unique_ptr<Device> open_device(DeviceKind kind, int index, const DeviceOptions& options);

}  // namespace roofline
