// The memory that a bandwidth probe of the CPU streams over, launch after launch, and the check of the last launch.
// The sets of each ceiling are chosen elsewhere (dram.cpp, cache.cpp, sweep.cpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cpu/thread_pool.hpp"
#include "device/device.hpp"
#include "kernels/calibration/cpu/guided_rounds.hpp"
#include "kernels/calibration/cpu/stream.hpp"
#include "kernels/calibration/cpu/sve.hpp"
#include "op/probe.hpp"

namespace roofline {

/// Chunks of a worker's share of a launch, for cores of different speed: about 16 us from DRAM and 5 us from caches. In
/// a launch of 0.3 to 1 ms all workers but the last wait for half a chunk on average.
constexpr int kStreamChunks = 64;

struct StreamPlan {
  Pattern pattern = Pattern::read;
  Isa isa = Isa::baseline;
  LoadKind load = LoadKind::plain;
  StoreKind store = StoreKind::regular;
  /// Instead of the level's kernels: plain loads and regular stores of these.
  const SveKernels* sve = nullptr;
  double set_bytes = 0;  ///< of one worker's set, all its arrays together; rounded to whole pages
  double launch_bytes =
      0;                   ///< that a worker moves in one launch, about: passes over a smaller set, a slice of a larger
  std::int64_t scale = 1;  ///< as many times that
  int chunks = 1;          ///< per worker's share of a launch of scale 1: a chunk is the minimum that a worker fetches
  /// Workers that exchange sets after every pass (those under one L3), so that each goes through all sets and has
  /// no hits of its own. For reads of sets that one launch covers. Empty: every worker keeps its set.
  std::vector<std::vector<int>> rotate_within = {};
};

/// "avx2", "sve": the register type of a plan's kernels.
std::string_view registers_of(const StreamPlan& plan);

/// The plan's scale for a request: whole slices only.
inline std::int64_t whole_scale(double scale) { return std::max<std::int64_t>(1, std::llround(scale)); }

/// Number of arrays of a pattern: triad three, copy and accumulate two, the others one. Array 0 is the output, if there
/// is one; in place it is an input as well.
int arrays_of(Pattern pattern);

/// Traffic of a pattern with arrays of `array_bytes`.
Traffic traffic_of(Pattern pattern, double array_bytes);

/// Every worker has its own set, on pages that it touched first. A launch continues where the previous one ended,
/// so that launches can be short (many samples per second, few of them affected by an interruption) while together
/// they cover a set of any size. The chunks of a launch are scheduled dynamically (see GuidedRounds), each worker
/// continuing in its own set. No worker takes more than twice its share, because the bytes between two visits to a
/// line could otherwise be fewer than the caches hold. Workers that exchange sets have a static schedule.
class StreamSet {
 public:
  /// Bytes of memory that the sets of a plan take.
  static std::size_t memory_bytes(const StreamPlan& plan, int workers);

  /// Bytes that all workers stream over: the plan's, in whole grains and slices.
  static double planned_bytes(const StreamPlan& plan, int workers);

  /// `memory` has memory_bytes at least; its w-th part belongs to worker w of `pool`.
  StreamSet(std::shared_ptr<ThreadPool> pool, std::shared_ptr<Buffer> memory, StreamPlan plan);

  void run();

  /// Compares everything that the last launch read or wrote with scalar arithmetic.
  std::optional<std::string> check() const;

  double working_set_bytes() const;  ///< of all workers
  Traffic traffic() const;           ///< of one launch

 private:
  struct alignas(64) Worker {
    std::uint64_t sum = 0;             /// checksum of what it read in the last launch
    std::int64_t begin = 0;            /// its first unit in that launch
    std::int64_t units = 0;            /// units done in that launch
    std::vector<std::int64_t> chunks;  ///< those units, as fetched: each chunk has its own checksum
  };

  std::byte* array(int set, int index) const;
  int set_of(int worker, std::int64_t unit) const;
  void fill(int set) const;
  void stream(int worker);
  std::uint64_t stream(int worker, std::int64_t begin, std::int64_t units) const;
  template <Isa isa>
  std::uint64_t pass(int set, std::int64_t begin, std::int64_t bytes, std::int64_t passes) const;
  std::uint64_t sve_pass(int set, std::int64_t begin, std::int64_t bytes, std::int64_t passes) const;
  template <typename F>
  void for_ranges(int worker, std::int64_t unit, std::int64_t units, F&& f) const;  ///< f(set, begin, bytes, passes)
  /// What word i of the output holds after that many units of its set, in all launches.
  std::uint64_t accumulated_word(int set, std::int64_t i, std::int64_t units) const;
  std::optional<std::string> check_share(int worker) const;

  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<Buffer> memory_;
  StreamPlan plan_;
  std::int64_t slice_bytes_ = 0;  ///< of one array
  std::int64_t slices_ = 1;       ///< of one array
  std::int64_t units_ = 1;        ///< slices, or passes over a set of one, of one worker's share of a launch
  std::vector<int> group_;        ///< of each worker, in plan_.rotate_within
  std::vector<int> place_;        ///< of each worker, in its group
  std::vector<Worker> workers_;
  GuidedRounds rounds_;  ///< units of a launch, of all workers
  std::uint64_t launches_ = 0;
};

class CpuDevice;

/// A set for all workers of the device, in its scratch memory.
std::shared_ptr<StreamSet> make_stream_set(CpuDevice& cpu, const StreamPlan& plan);

/// A set for the first `threads` workers, on a pool of their own, so that idle workers do not spin beside them.
std::shared_ptr<StreamSet> make_stream_set(CpuDevice& cpu, const StreamPlan& plan, int threads);

/// A case that runs and checks the set, and counts its bytes at that level.
ProbeCase stream_case(const std::shared_ptr<StreamSet>& set, Level level, std::string variant);

}  // namespace roofline
