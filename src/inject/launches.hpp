// Launch signatures: function, geometry, scalar parameters and place.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inject/same_inputs.hpp"
#include "inject/spool_writer.hpp"

namespace roofline::inject {

/// Zero where unknown.
struct Geometry {
  std::array<std::uint32_t, 3> grid = {}, block = {}, cluster = {};
  std::uint32_t dynamic_shared = 0;

  bool operator==(const Geometry&) const = default;
};

/// Lives as long as the process.
struct Kind {
  spool::Id id = 0;
  spool::Id name = 0;
  spool::Id place = 0;
  spool::Id alike = 0;  ///< the first kind that differs in nothing but the numbers of its place: of another layer
  std::uint32_t flags = 0;
  Geometry geometry;
  std::atomic<std::uint64_t> launches = 0;
  std::atomic<std::uint64_t> timed = 0, gpu_time = 0;  ///< launches whose time on the GPU is known, and its sum, ns
  std::atomic<std::uint32_t> last_timed = 0;           ///< correlation of one of them

  /// ns of a launch on the GPU; 0: unknown yet.
  std::uint64_t usual_time() const {
    const std::uint64_t known = timed.load(std::memory_order_relaxed);
    return known != 0 ? gpu_time.load(std::memory_order_relaxed) / known : 0;
  }

  std::atomic<CUfunction> function = nullptr;  ///< its latest handle, set when a thread's cache misses
};

/// What a launch gives the driver.
struct KernelLaunch {
  CUfunction function = nullptr;
  const char* symbol = nullptr;  ///< nullptr: the driver is queried
  Geometry geometry;
  void** parameters = nullptr;
  void** extra = nullptr;
  bool cooperative = false;
  bool uncountable = false;
};

class Kinds {
 public:
  explicit Kinds(SpoolWriter& spool) : spool_(spool) {}

  /// `same_input`: it copies or converts memory that it copied before and that no launch, copy or memset has used
  /// since.
  Kind& of_kernel(const KernelLaunch& launch, spool::Id place, bool& same_input) {
    return of_launch(launch, place, 0, {.same_input = &same_input});
  }
  /// A kernel that becomes a node of a graph. `memory`: that it uses; null where that is not known.
  Kind& of_node(const KernelLaunch& launch, spool::Id place, std::unique_ptr<NodeMemory>& memory) {
    return of_launch(launch, place, spool::kInGraph, {.memory = &memory});
  }
  /// A node that was given another function or geometry after its making, or was not seen made: as its record shows it.
  Kind& of_changed_node(const char* symbol, const Geometry& geometry, spool::Id place);
  Kind& of_graph(std::uint32_t kernels, std::uint64_t signature, spool::Id place);

  /// Reports a launch that has just been recorded, and its time on the GPU when it becomes known; from any thread.
  void launched(Kind& kind, std::uint32_t correlation);
  void ran(std::uint32_t correlation, std::uint64_t nanoseconds);

  /// nullptr: no kind has that id.
  const Kind* of_id(spool::Id id) const;

  /// Handles of functions may be reused from here on.
  void forget_functions();

  SameInputs& inputs() { return inputs_; }

  /// Records ranges of device memory, so that pointer parameters are distinguished from numbers.
  static void remember_memory(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Parameter {
    std::uint32_t offset, size;
  };
  struct Function {
    spool::Id name = 0;
    bool uncountable = false;
    bool known = false;  ///< its parameters are
    Source source = Source::none;
    std::vector<Parameter> parameters;
  };
  struct Key {
    Geometry geometry;
    spool::Id name = 0, place = 0;
    std::uint64_t scalars = 0;
    std::uint32_t flags = 0, reserved = 0;

    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Recent;

  const Function& function_of(CUfunction handle, const char* symbol);
  Kind& find(Key key);
  Kind& find_locked(const Key& key, std::uint64_t recorded_scalars);
  /// What follows the pointers of a launch: results of of_kernel() or of_node().
  struct Follower {
    bool* same_input = nullptr;
    std::unique_ptr<NodeMemory>* memory = nullptr;
  };
  Kind& of_launch(const KernelLaunch& launch, spool::Id place, std::uint32_t flags, const Follower& follower);
  std::uint64_t scalars_of(const Function& function, const KernelLaunch& launch, const Follower& follower);
  template <typename To>
  static std::uint64_t scalars_of(const Function& function, const KernelLaunch& launch, GivenPointers<To>& given);

  SpoolWriter& spool_;
  SameInputs inputs_;
  mutable std::mutex mutex_;
  std::unordered_map<CUfunction, Function*> functions_;  ///< never freed: threads may still use removed entries
  std::atomic<std::uint32_t> epoch_ = 1;
  std::unordered_map<Key, Kind*, Hash> kinds_;
  std::unordered_map<Key, spool::Id, Hash> alike_;  ///< the first kind of each signature, in any layer
  std::unordered_map<Key, int, Hash> variants_;
  std::vector<Kind*> by_id_;  ///< from id 1 on

  /// The latest launches, at their correlation's place. Those whose times come later are not timed.
  struct Latest {
    std::atomic<std::uint32_t> correlation = 0;
    std::atomic<Kind*> kind = nullptr;
  };
  static constexpr std::size_t kLatest = std::size_t{1} << 14;
  std::array<Latest, kLatest> latest_;
};

}  // namespace roofline::inject
