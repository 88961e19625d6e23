#include "inject/launches.hpp"

#include <cstring>
#include <string>

#include "inject/cupti_library.hpp"
#include "inject/mix.hpp"
#include "inject/thread_state.hpp"
#include "text/parts.hpp"

namespace roofline::inject {
namespace {

/// A parameter that differs from launch to launch (a seed, a step's number) must not make a kind of each.
constexpr int kMostVariants = 8;
/// A program that launches from ever new places; beyond, kinds know no place.
constexpr std::size_t kMostKinds = 1 << 16;
constexpr std::uint32_t kTensorMapBytes = 128;

/// Kernels that wait for others, on this GPU or another: serialised or replayed they may never end.
bool waits_for_others(std::string_view symbol) {
  return contains_any(symbol,
                      {"ncclDevKernel", "ncclKernel", "ncclSymk", "nvshmem", "multimem", "symm_mem", "symmetric_memory",
                       "one_shot_all_reduce", "two_shot_all_reduce", "cross_device_reduce", "allreduce_fusion"});
}

/// A bit for each GiB of addresses in which device memory was allocated.
constexpr int kBlockBits = 30;
constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << 48;
std::array<std::atomic<std::uint64_t>, (kAddressSpace >> kBlockBits) / 64> memory_blocks;

bool is_pointer(std::uint64_t word) {
  if (word >= kAddressSpace) return false;
  // Linux maps libraries there, and the driver maps allocations there that fit.
  if (word >> 40 == 0x7e || word >> 40 == 0x7f) return true;
  const std::uint64_t block = word >> kBlockBits;
  return (memory_blocks[block / 64].load(std::memory_order_relaxed) >> (block % 64) & 1) != 0;
}

}  // namespace

std::size_t Kinds::Hash::operator()(const Key& key) const {
  static_assert(std::has_unique_object_representations_v<Key>);
  std::array<std::uint64_t, sizeof(Key) / 8> words;
  static_assert(sizeof(Key) % 8 == 0);
  std::memcpy(words.data(), &key, sizeof(Key));
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words) hash = mix(hash, word);
  return hash;
}

void Kinds::remember_memory(std::uint64_t address, std::uint64_t bytes) {
  if (address == 0 || address >= kAddressSpace || bytes == 0 || bytes > kAddressSpace - address) return;
  for (std::uint64_t block = address >> kBlockBits; block <= (address + bytes - 1) >> kBlockBits; ++block) {
    memory_blocks[block / 64].fetch_or(std::uint64_t{1} << (block % 64), std::memory_order_relaxed);
  }
}

void Kinds::launched(Kind& kind, std::uint32_t correlation) {
  Latest& latest = latest_[correlation % kLatest];
  latest.correlation.store(0, std::memory_order_relaxed);
  latest.kind.store(&kind, std::memory_order_release);
  latest.correlation.store(correlation, std::memory_order_release);
}

void Kinds::ran(std::uint32_t correlation, std::uint64_t nanoseconds) {
  const Latest& latest = latest_[correlation % kLatest];
  Kind* const kind = latest.kind.load(std::memory_order_acquire);
  if (kind == nullptr || latest.correlation.load(std::memory_order_acquire) != correlation) return;
  kind->gpu_time.fetch_add(nanoseconds, std::memory_order_relaxed);
  // Kernels of a graph have the correlation of its launch, which is one.
  if (kind->last_timed.exchange(correlation, std::memory_order_relaxed) != correlation) {
    kind->timed.fetch_add(1, std::memory_order_relaxed);
  }
}

const Kind* Kinds::of_id(spool::Id id) const {
  const std::lock_guard lock(mutex_);
  return id > 0 && id <= by_id_.size() ? by_id_[id - 1] : nullptr;
}

void Kinds::forget_functions() {
  const std::lock_guard lock(mutex_);
  functions_.clear();
  ++epoch_;
}

const Kinds::Function& Kinds::function_of(CUfunction handle, const char* symbol) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = functions_.find(handle); found != functions_.end()) return *found->second;
  }
  auto* const function = new Function;
  const Driver& table = driver();
  // A handle is a CUfunction or a CUkernel; the driver rejects the wrong query.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (table.exchange_capture_mode != nullptr) table.exchange_capture_mode(&mode);
  const auto kernel = reinterpret_cast<CUkernel>(handle);
  std::size_t offset = 0, size = 0;
  const bool is_function = table.function_parameter == nullptr ||
                           table.function_parameter(handle, 0, &offset, &size) != CUDA_ERROR_INVALID_HANDLE;
  for (std::size_t index = 0; table.function_parameter != nullptr && table.kernel_parameter != nullptr; ++index) {
    const CUresult status = is_function ? table.function_parameter(handle, index, &offset, &size)
                                        : table.kernel_parameter(kernel, index, &offset, &size);
    function->known = status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_VALUE;
    if (status != CUDA_SUCCESS) break;
    function->parameters.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
  }
  if (symbol == nullptr) {
    const bool named = is_function
                           ? table.function_name != nullptr && table.function_name(&symbol, handle) == CUDA_SUCCESS
                           : table.kernel_name != nullptr && table.kernel_name(&symbol, kernel) == CUDA_SUCCESS;
    if (!named) symbol = nullptr;
  }
  if (table.exchange_capture_mode != nullptr) table.exchange_capture_mode(&mode);
  const std::string_view name = symbol != nullptr ? symbol : "unknown kernel";
  function->name = spool_.text(name);
  function->uncountable = waits_for_others(name);
  function->source = source_of(name);

  const std::lock_guard lock(mutex_);
  const auto [found, added] = functions_.try_emplace(handle, function);
  if (!added) delete function;
  return *found->second;
}

std::uint64_t Kinds::scalars_of(const Function& function, const KernelLaunch& launch, const Follower& follower) {
  // Kernels of collectives have their pointers in device memory.
  const bool followed = function.known && !function.uncountable;
  if (follower.memory != nullptr) {
    auto memory = std::make_unique<NodeMemory>();
    GivenPointers<NodeMemory> given(*memory, function.source);
    const std::uint64_t scalars = scalars_of(function, launch, given);
    given.same_input(function.name);
    if (followed && scalars != 0) *follower.memory = std::move(memory);
    return scalars;
  }
  if (!followed) inputs_.forget();
  GivenPointers<SameInputs> given(inputs_, function.source);
  const std::uint64_t scalars = scalars_of(function, launch, given);
  const bool same = given.same_input(function.name);
  if (follower.same_input != nullptr) *follower.same_input = scalars != 0 && same;
  return scalars;
}

template <typename To>
std::uint64_t Kinds::scalars_of(const Function& function, const KernelLaunch& launch, GivenPointers<To>& given) {
  if (!function.known) return 0;
  const char* buffer = nullptr;
  std::size_t buffer_bytes = 0;
  if (launch.parameters == nullptr) {
    if (launch.extra == nullptr) return function.parameters.empty() ? 1 : 0;
    for (void** item = launch.extra; *item != CU_LAUNCH_PARAM_END; item += 2) {
      if (*item == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<const char*>(item[1]);
      if (*item == CU_LAUNCH_PARAM_BUFFER_SIZE) buffer_bytes = *static_cast<const std::size_t*>(item[1]);
    }
  }
  std::uint64_t hash = function.parameters.size() + 1;
  for (std::size_t index = 0; index < function.parameters.size(); ++index) {
    const Parameter& parameter = function.parameters[index];
    const char* value = nullptr;
    if (launch.parameters != nullptr) {
      value = static_cast<const char*>(launch.parameters[index]);
    } else if (buffer != nullptr && parameter.offset + parameter.size <= buffer_bytes) {
      value = buffer + parameter.offset;
    }
    if (value == nullptr) return 0;
    std::uint32_t at = 0;
    for (; at + 8 <= parameter.size; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, value + at, 8);
      // A tensor map begins with its tensor's address.
      const bool address = is_pointer(word) || (at == 0 && parameter.size == kTensorMapBytes);
      hash = mix(hash, address ? ~std::uint64_t{0} : word);
      if (address) given.add(word);
    }
    if (at < parameter.size) {
      std::uint64_t word = 0;
      std::memcpy(&word, value + at, parameter.size - at);
      hash = mix(hash, word);
    }
  }
  return hash != 0 ? hash : 1;
}

Kind& Kinds::find_locked(const Key& key, std::uint64_t recorded_scalars) {
  const auto [found, added] = kinds_.try_emplace(key, nullptr);
  if (added) {
    auto* const kind = new Kind;
    kind->id = static_cast<spool::Id>(kinds_.size());
    by_id_.push_back(kind);
    kind->name = key.name;
    kind->place = key.place;
    Key of_any_block = key;
    of_any_block.place = spool_.place_of_any_block(key.place);
    kind->alike = alike_.try_emplace(of_any_block, kind->id).first->second;
    kind->flags = key.flags;
    kind->geometry = key.geometry;
    spool::Kind record = {};
    record.id = kind->id;
    record.name = key.name;
    std::memcpy(record.grid, key.geometry.grid.data(), sizeof(record.grid));
    std::memcpy(record.block, key.geometry.block.data(), sizeof(record.block));
    std::memcpy(record.cluster, key.geometry.cluster.data(), sizeof(record.cluster));
    record.dynamic_shared = key.geometry.dynamic_shared;
    record.scalars = recorded_scalars;
    record.place = key.place;
    record.flags = key.flags;
    spool_.write(spool::Type::kind, record);
    found->second = kind;
  }
  return *found->second;
}

Kind& Kinds::find(Key key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kinds_.find(key); found != kinds_.end()) return *found->second;
  if (kinds_.size() >= kMostKinds) key.place = 0;
  if (key.scalars != 0 && (key.flags & spool::kGraph) == 0) {
    Key family = key;
    family.scalars = 0;
    if (kinds_.size() >= kMostKinds || ++variants_[family] > kMostVariants) {
      family.flags |= spool::kMerged;
      return find_locked(family, 0);
    }
  }
  return find_locked(key, key.scalars);
}

/// Kinds that a thread met lately, found without a lock: most launches repeat.
struct Kinds::Recent {
  static constexpr std::size_t kSlots = 1024;
  struct Slot {
    std::uint32_t epoch = 0;
    std::uint32_t flags = 0;
    spool::Id place = 0;
    CUfunction handle = nullptr;
    std::uint64_t scalars = 0;
    Geometry geometry;
    Kind* kind = nullptr;
  };
  struct FunctionSlot {
    std::uint32_t epoch = 0;
    CUfunction handle = nullptr;
    const Function* function = nullptr;
  };
  const Kinds* owner = nullptr;
  std::array<Slot, kSlots> slots;
  std::array<FunctionSlot, kSlots> functions;
};

Kind& Kinds::of_launch(const KernelLaunch& launch, spool::Id place, std::uint32_t flags, const Follower& follower) {
  static thread_local Recent recent;
  if (recent.owner != this) {
    recent = {};
    recent.owner = this;
  }
  const std::uint32_t epoch = epoch_.load(std::memory_order_acquire);
  const std::uint64_t handle_hash = mix(0, reinterpret_cast<std::uintptr_t>(launch.function));
  Recent::FunctionSlot& known = recent.functions[(handle_hash >> 8) % Recent::kSlots];
  if (known.handle != launch.function || known.epoch != epoch) {
    known = {epoch, launch.function, &function_of(launch.function, launch.symbol)};
  }
  const Function& function = *known.function;
  const std::uint64_t scalars = scalars_of(function, launch, follower);
  if (launch.cooperative) flags |= spool::kCooperative;
  if (function.uncountable || launch.uncountable) flags |= spool::kUncountable;

  std::uint64_t hash = mix(mix(handle_hash, scalars), place);
  hash = mix(hash, launch.geometry.grid[0] | std::uint64_t{launch.geometry.grid[1]} << 32);
  Recent::Slot& slot = recent.slots[(hash >> 8) % Recent::kSlots];
  if (slot.epoch != epoch || slot.handle != launch.function || slot.flags != flags || slot.place != place ||
      slot.scalars != scalars || !(slot.geometry == launch.geometry)) {
    Key key;
    key.geometry = launch.geometry;
    key.name = function.name;
    key.place = place;
    key.scalars = scalars;
    key.flags = flags;
    slot = {epoch, flags, place, launch.function, scalars, launch.geometry, &find(key)};
    slot.kind->function.store(launch.function, std::memory_order_relaxed);
  }
  return *slot.kind;
}

Kind& Kinds::of_changed_node(const char* symbol, const Geometry& geometry, spool::Id place) {
  Key key;
  key.geometry = geometry;
  key.name = spool_.text(symbol);
  key.place = place;
  key.flags = spool::kInGraph | spool::kMerged;
  return find(key);
}

Kind& Kinds::of_graph(std::uint32_t kernels, std::uint64_t signature, spool::Id place) {
  Key key;
  key.name = spool_.text("graph of " + std::to_string(kernels) + (kernels == 1 ? " kernel" : " kernels"));
  key.place = place;
  key.scalars = signature;
  key.flags = spool::kGraph;
  return find(key);
}

}  // namespace roofline::inject
