#include "inject/memory.hpp"

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <unordered_map>

#include "inject/clock.hpp"
#include "inject/cupti_library.hpp"
#include "inject/live_blocks.hpp"
#include "inject/redirect.hpp"
#include "inject/thread_state.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint32_t kMostDevices = 64;
constexpr std::uint64_t kSamplePeriod = kSecond / 20;
/// After that many samples they become rarer, so that those of a day fit into a spool.
constexpr std::uint64_t kSamples = 4096;
/// Failures after which the spool is written at once: the program may end.
constexpr int kUrgentFailures = 16;

/// Bytes of one pool on one device.
struct Use {
  std::atomic<std::uint64_t> allocated = 0, reserved = 0;
  std::atomic<std::uint64_t> least = UINT64_MAX, most = 0, most_reserved = 0;  ///< since the last sample
  std::atomic<bool> known = false;
  std::uint64_t sampled = 0;  ///< when; of the thread that samples

  void set(std::uint64_t now_allocated, std::uint64_t now_reserved) {
    allocated.store(now_allocated, std::memory_order_relaxed);
    reserved.store(now_reserved, std::memory_order_relaxed);
    if (now_allocated > most.load(std::memory_order_relaxed)) most.store(now_allocated, std::memory_order_relaxed);
    if (now_allocated < least.load(std::memory_order_relaxed)) least.store(now_allocated, std::memory_order_relaxed);
    if (now_reserved > most_reserved.load(std::memory_order_relaxed)) {
      most_reserved.store(now_reserved, std::memory_order_relaxed);
    }
    if (!known.load(std::memory_order_relaxed)) known.store(true, std::memory_order_release);
  }
};

/// A block that CUDA handed out.
struct Block {
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;
  spool::MemoryPool pool = spool::MemoryPool::device;
  bool recorded = false;
};

/// State of the process; never freed, because threads may be in it when the process ends.
struct MemoryState {
  std::array<std::array<Use, kMostDevices>, spool::kMemoryPools> uses;
  LiveBlocks live;  ///< of PyTorch's allocator
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Block> blocks;  ///< of CUDA, by address
  std::unordered_map<std::uint64_t, Block> handles;
  std::atomic<int> failures = 0;

  Use& use(spool::MemoryPool pool, std::uint32_t device) {
    return uses[static_cast<std::size_t>(pool)][device % kMostDevices];
  }
};

MemoryState& state() {
  static auto* const made = new MemoryState;
  return *made;
}

bool is_recording(const Session& session) { return session.phase.load(std::memory_order_relaxed) == Phase::recording; }

spool::Allocation allocation_of(spool::MemoryEvent event, spool::MemoryPool pool, std::uint32_t device,
                                std::uint64_t address, std::uint64_t bytes) {
  spool::Allocation record = {};
  record.time = now();
  record.address = address;
  record.bytes = bytes;
  record.device = device;
  record.pool = pool;
  record.event = event;
  return record;
}

void write(Session& session, const spool::Allocation& record) { session.spool.write(spool::Type::allocation, record); }

void write_failure(Session& session, ThreadState& thread, spool::Allocation record) {
  record.thread = thread.id;
  // A call of CUDA that failed came before, and its place is the last one.
  record.place = thread.last_place;
  place_allocations(session, thread, thread.last_place);
  write(session, record);
  if (++state().failures > kUrgentFailures) return;
  sample_memory(session, now(), true);
  session.spool.flush();
}

// --- PyTorch's caching allocator, which reports to a profiler of PyTorch, whether there is one or not

struct TorchDevice {  // c10::Device
  std::int8_t type, index;
};
constexpr std::int8_t kTorchCuda = 1;

std::atomic<void*> torch_reports, torch_fails;

/// The allocator holds its lock: nothing here may wait for Python. The place is that of the launch that follows.
void take_report(Session& session, std::uint64_t address, std::int64_t bytes, std::uint64_t allocated,
                 std::uint64_t reserved, std::uint32_t device) {
  MemoryState& memory = state();
  memory.use(spool::MemoryPool::torch, device).set(allocated, reserved);
  const bool frees = bytes < 0;
  if (frees ? !memory.live.remove(address) : !is_recording(session) || !memory.live.add(address)) return;
  spool::Allocation record =
      allocation_of(frees ? spool::MemoryEvent::freed : spool::MemoryEvent::allocated, spool::MemoryPool::torch, device,
                    address, static_cast<std::uint64_t>(frees ? -bytes : bytes));
  record.allocated = allocated;
  record.reserved = reserved;
  ThreadState& thread = thread_state(session);
  record.thread = thread.id;
  if (frees) {
    write(session, record);
    return;
  }
  if (thread.waiting_allocations == thread.allocations.size()) place_allocations(session, thread, 0);
  thread.allocations[thread.waiting_allocations++] = record;
}

void on_torch_report(void* address, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                     TorchDevice device) {
  if (void* const original = torch_reports.load(std::memory_order_acquire)) {
    reinterpret_cast<decltype(&on_torch_report)>(original)(address, bytes, allocated, reserved, device);
  }
  Session* const current = live_session();
  if (device.type != kTorchCuda || device.index < 0 || current == nullptr) return;
  try {
    take_report(*current, reinterpret_cast<std::uintptr_t>(address), bytes, allocated, reserved,
                static_cast<std::uint32_t>(device.index));
  } catch (...) {  // the program runs on without this record
  }
}

void on_torch_failure(std::int64_t bytes, std::size_t allocated, std::size_t reserved, TorchDevice device) {
  if (void* const original = torch_fails.load(std::memory_order_acquire)) {
    reinterpret_cast<decltype(&on_torch_failure)>(original)(bytes, allocated, reserved, device);
  }
  Session* const current = live_session();
  if (device.type != kTorchCuda || device.index < 0 || current == nullptr) return;
  try {
    spool::Allocation record =
        allocation_of(spool::MemoryEvent::failed, spool::MemoryPool::torch, static_cast<std::uint32_t>(device.index), 0,
                      static_cast<std::uint64_t>(bytes));
    record.allocated = allocated;
    record.reserved = reserved;
    write_failure(*current, thread_state(*current), record);
  } catch (...) {  // the program runs on without this record
  }
}

const std::array<Redirection, 2> kRedirections = {{{"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
                                                    reinterpret_cast<void*>(&on_torch_report), &torch_reports},
                                                   {"_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE",
                                                    reinterpret_cast<void*>(&on_torch_failure), &torch_fails}}};

Redirections& redirections() {
  static auto* const made = new Redirections(kRedirections);
  return *made;
}

// --- CUDA

std::uint32_t current_device() {
  CUdevice device = 0;
  if (driver().context_device != nullptr) driver().context_device(&device);
  return static_cast<std::uint32_t>(device);
}

/// What a call returns, and where.
struct Request {
  std::uint64_t key = 0;  ///< an address or a handle
  Block block;
};

Request requested(MemoryCall call, const void* params, bool succeeded) {
  Request request;
  // A failed call has no results.
  const auto keyed = [&](const auto* result) {
    request.key = succeeded && result != nullptr ? std::uint64_t(*result) : 0;
  };
  request.block.device = current_device();
  switch (call) {
    case MemoryCall::device: {
      const auto& given = *static_cast<const cuMemAlloc_v2_params*>(params);
      keyed(given.dptr);
      request.block.bytes = given.bytesize;
      break;
    }
    case MemoryCall::pitched: {
      const auto& given = *static_cast<const cuMemAllocPitch_v2_params*>(params);
      keyed(given.dptr);
      request.block.bytes = (succeeded && given.pPitch != nullptr ? *given.pPitch : given.WidthInBytes) * given.Height;
      break;
    }
    case MemoryCall::managed: {
      const auto& given = *static_cast<const cuMemAllocManaged_params*>(params);
      keyed(given.dptr);
      request.block.bytes = given.bytesize;
      request.block.pool = spool::MemoryPool::managed;
      break;
    }
    case MemoryCall::pinned: {
      const auto& given = *static_cast<const cuMemAllocHost_v2_params*>(params);  // begins like cuMemHostAlloc's
      keyed(reinterpret_cast<std::uintptr_t*>(given.pp));
      request.block.bytes = given.bytesize;
      request.block.pool = spool::MemoryPool::pinned;
      break;
    }
    case MemoryCall::create: {
      const auto& given = *static_cast<const cuMemCreate_params*>(params);
      keyed(given.handle);
      request.block.bytes = given.size;
      if (given.prop != nullptr && given.prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        request.block.device = static_cast<std::uint32_t>(given.prop->location.id);
      } else {
        request.block.pool = spool::MemoryPool::pinned;
      }
      break;
    }
    default:
      break;
  }
  return request;
}

/// What a call frees; 0: nothing.
std::uint64_t given_back(MemoryCall call, const void* params) {
  switch (call) {
    case MemoryCall::free:
      return static_cast<const cuMemFree_v2_params*>(params)->dptr;  // cuMemFreeAsync's begin like it
    case MemoryCall::free_pinned:
      return reinterpret_cast<std::uintptr_t>(static_cast<const cuMemFreeHost_params*>(params)->p);
    case MemoryCall::release:
      return static_cast<const cuMemRelease_params*>(params)->handle;
    default:
      return 0;
  }
}

/// Under the lock of the blocks.
std::uint64_t change(Block& block, std::uint64_t key, bool added, std::unordered_map<std::uint64_t, Block>& blocks) {
  Use& use = state().use(block.pool, block.device);
  const std::uint64_t before = use.allocated.load(std::memory_order_relaxed);
  std::uint64_t total = before + block.bytes;
  if (added) {
    blocks[key] = block;
  } else {
    blocks.erase(key);
    total = before - std::min(before, block.bytes);
  }
  use.set(total, total);
  return total;
}

}  // namespace

void look_for_allocators() { redirections().apply(); }

void enters_memory_call(Session& session, ThreadState& thread, MemoryCall call, const void* params) {
  const std::uint64_t key = given_back(call, params);
  if (key == 0) return;
  MemoryState& memory = state();
  Block block;
  std::uint64_t total = 0;
  {
    const std::lock_guard lock(memory.mutex);
    auto& blocks = call == MemoryCall::release ? memory.handles : memory.blocks;
    const auto found = blocks.find(key);
    if (found == blocks.end()) return;
    block = found->second;
    total = change(block, key, false, blocks);
  }
  if (!block.recorded) return;
  spool::Allocation record = allocation_of(spool::MemoryEvent::freed, block.pool, block.device, key, block.bytes);
  record.allocated = record.reserved = total;
  record.thread = thread.id;
  write(session, record);
}

void leaves_memory_call(Session& session, ThreadState& thread, MemoryCall call, const void* params, bool succeeded) {
  if (call == MemoryCall::free || call == MemoryCall::free_pinned || call == MemoryCall::release) return;
  Request request = requested(call, params, succeeded);
  if (request.block.bytes == 0 || (succeeded && request.key == 0)) return;
  MemoryState& memory = state();
  Block& block = request.block;
  if (!succeeded) {
    spool::Allocation record = allocation_of(spool::MemoryEvent::failed, block.pool, block.device, 0, block.bytes);
    record.allocated = record.reserved = memory.use(block.pool, block.device).allocated.load(std::memory_order_relaxed);
    write_failure(session, thread, record);
    return;
  }
  block.recorded = thread.call.recorded && is_recording(session);
  std::uint64_t total = 0;
  {
    const std::lock_guard lock(memory.mutex);
    total = change(block, request.key, true, call == MemoryCall::create ? memory.handles : memory.blocks);
  }
  if (!block.recorded) return;
  spool::Allocation record =
      allocation_of(spool::MemoryEvent::allocated, block.pool, block.device, request.key, block.bytes);
  record.allocated = record.reserved = total;
  record.thread = thread.id;
  record.place = thread.call.place;
  write(session, record);
}

void place_allocations(Session& session, ThreadState& thread, spool::Id place) {
  if (thread.waiting_allocations == 0) return;
  const std::span<spool::Allocation> waiting(thread.allocations.data(), thread.waiting_allocations);
  for (spool::Allocation& record : waiting) record.place = place;
  session.spool.write_all(spool::Type::allocation, waiting);
  thread.waiting_allocations = 0;
}

void sample_memory(Session& session, std::uint64_t time, bool all) {
  static std::mutex one_at_a_time;  // a failure samples, too
  const std::lock_guard lock(one_at_a_time);
  const std::uint64_t period = std::max(kSamplePeriod, (time - std::min(time, session.started)) / kSamples);
  for (std::size_t pool = 0; pool < spool::kMemoryPools; ++pool) {
    for (std::uint32_t device = 0; device < kMostDevices; ++device) {
      Use& use = state().uses[pool][device];
      if (!use.known.load(std::memory_order_acquire) || time <= use.sampled) continue;
      if (!all && time < use.sampled + period) continue;
      spool::MemoryUse record = {};
      record.start = use.sampled != 0 ? use.sampled : time;
      record.end = time;
      record.allocated = use.allocated.load(std::memory_order_relaxed);
      record.reserved = use.reserved.load(std::memory_order_relaxed);
      record.least_allocated =
          std::min(use.least.exchange(record.allocated, std::memory_order_relaxed), record.allocated);
      record.most_allocated =
          std::max(use.most.exchange(record.allocated, std::memory_order_relaxed), record.allocated);
      record.most_reserved =
          std::max(use.most_reserved.exchange(record.reserved, std::memory_order_relaxed), record.reserved);
      record.device = device;
      record.pool = static_cast<spool::MemoryPool>(pool);
      session.spool.write(spool::Type::memory_use, record);
      use.sampled = time;
    }
  }
}

}  // namespace roofline::inject
