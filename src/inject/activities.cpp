// Activities: the buffers that CUPTI fills, and their records.
#include <cupti.h>
#include <cupti_activity.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "inject/buffer_size.hpp"
#include "inject/clock.hpp"
#include "inject/cupti_library.hpp"
#include "inject/trace.hpp"

namespace roofline::inject {
namespace {

// The structures of CUPTI 12; those of CUPTI 13 have the same prefix.
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using PeerRecord = CUpti_ActivityMemcpyPtoP4;
using FillRecord = CUpti_ActivityMemset4;
using OverheadRecord = CUpti_ActivityOverhead2;
using DeviceRecord = CUpti_ActivityDevice4;
using ContextRecord = CUpti_ActivityContext2;

constexpr std::size_t kPrepared = 16;
/// Pending copies, at most; records beyond them are lost.
constexpr std::size_t kMostAwaited = 1 << 16;

/// Zeroed buffers of BufferSize::kMost bytes.
struct BufferPool {
  std::mutex mutex;
  BufferSize size;
  std::vector<std::uint8_t*> free;
};
BufferPool& pool() {
  static auto* const buffers = new BufferPool;
  return *buffers;
}

struct AwaitedPlaces {
  std::mutex mutex;
  std::unordered_map<std::uint32_t, spool::Id> places;
};
AwaitedPlaces& awaited() {
  static auto* const places = new AwaitedPlaces;
  return *places;
}

spool::Id place_of(std::uint32_t correlation) {
  AwaitedPlaces& known = awaited();
  const std::lock_guard lock(known.mutex);
  const auto found = known.places.find(correlation);
  if (found == known.places.end()) return 0;
  const spool::Id place = found->second;
  known.places.erase(found);
  return place;
}

/// Only work launched in the window.
bool in_window(const Session& session, std::uint32_t correlation) {
  const Phase phase = session.phase.load(std::memory_order_acquire);
  if (phase == Phase::loaded || phase == Phase::warming || session.window_began == 0) return false;
  return !precedes(correlation, session.first_correlation) &&
         (!session.end_correlation_known || precedes(correlation, session.end_correlation));
}

void take(Session& session, const KernelRecord& record, std::vector<spool::Kernel>& kernels) {
  if (!in_window(session, record.correlationId)) return;
  // CUPTI's own, 80 us before each launch that is counted.
  if (record.name != nullptr && std::strcmp(record.name, "WaitNs") == 0) return;
  spool::Kernel kernel = {};
  kernel.start = record.start;
  kernel.end = record.end;
  kernel.correlation = record.correlationId;
  kernel.device = record.deviceId;
  kernel.context = record.contextId;
  kernel.stream = record.streamId;
  kernel.graph = record.graphId;
  kernel.graph_node = record.graphNodeId;
  kernel.registers = record.registersPerThread;
  kernel.static_shared = static_cast<std::uint32_t>(record.staticSharedMemory);
  kernel.local_bytes = record.localMemoryPerThread;
  if (record.graphNodeId != 0) {
    const auto size = [](auto value) { return static_cast<std::uint32_t>(value); };
    Geometry geometry;
    geometry.grid = {size(record.gridX), size(record.gridY), size(record.gridZ)};
    geometry.block = {size(record.blockX), size(record.blockY), size(record.blockZ)};
    geometry.dynamic_shared = size(record.dynamicSharedMemory);
    const Graphs::Node node = session.graphs.find(record.graphNodeId);
    if (node.same_input != nullptr && node.same_input->load(std::memory_order_relaxed))
      kernel.flags |= spool::kSameInput;
    const char* const name = record.name != nullptr ? record.name : "unknown kernel";
    if (node.kind != nullptr && node.kind->geometry.grid == geometry.grid &&
        node.kind->geometry.block == geometry.block && node.kind->name == session.spool.text(name)) {
      kernel.kind = node.kind->id;
    } else {
      kernel.kind = session.kinds.of_changed_node(name, geometry, node.place).id;
    }
  }
  if (record.start == 0 || record.end == 0) {
    ++session.without_time;
  } else {
    session.kinds.ran(record.correlationId, record.end - record.start);
  }
  kernels.push_back(kernel);
}

spool::Memory memory(unsigned kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return spool::Memory::pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return spool::Memory::pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return spool::Memory::device;
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return spool::Memory::array;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return spool::Memory::managed;
    default:
      return spool::Memory::unknown;
  }
}

/// Fills the fields that copies and fills share. False: the record is outside the window.
template <typename Written, typename Record>
bool take_transfer(Session& session, Written& written, const Record& record) {
  const spool::Id place = place_of(record.correlationId);
  if (!in_window(session, record.correlationId)) return false;
  written.start = record.start;
  written.end = record.end;
  written.bytes = record.bytes;
  written.correlation = record.correlationId;
  written.device = record.deviceId;
  written.context = record.contextId;
  written.stream = record.streamId;
  written.graph = record.graphId;
  written.place = record.graphNodeId != 0 ? session.graphs.find(record.graphNodeId).place : place;
  return true;
}

template <typename Record>
void take_copy(Session& session, const Record& record, std::uint32_t peer) {
  spool::Copy copy = {};
  if (!take_transfer(session, copy, record)) return;
  copy.peer = peer;
  copy.from = memory(record.srcKind);
  copy.to = memory(record.dstKind);
  copy.asynchronous = (record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
  session.spool.write(spool::Type::copy, copy);
}

void take(Session& session, const FillRecord& record) {
  spool::Fill fill = {};
  if (take_transfer(session, fill, record)) session.spool.write(spool::Type::fill, fill);
}

const char* name_of(CUpti_ActivityOverheadKind kind) {
  switch (static_cast<int>(kind)) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return spool::kDriverCompilation;
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "resources of the trace";
    case 4 << 16:
      return spool::kModuleLoading;
    case 5 << 16:
      return spool::kLazyLoading;
    case 6 << 16:
      return "command buffer full";
    case 7 << 16:
      return "buffer request";
    case 8 << 16:
      return "unified memory tracing";
    default:
      return "other";
  }
}

void take(Session& session, const OverheadRecord& record) {
  const Phase phase = session.phase.load(std::memory_order_acquire);
  if (phase == Phase::loaded || phase == Phase::warming || record.end < session.window_began) return;
  session.spool.write(spool::Type::overhead,
                      spool::Overhead{record.start, record.end, session.spool.text(name_of(record.overheadKind)), 0});
}

void take(Session& session, const DeviceRecord& record) {
  spool::Device device = {};
  device.index = record.id;
  device.name = session.spool.text(record.name != nullptr ? record.name : "");
  device.sms = record.numMultiprocessors;
  static_assert(sizeof(device.uuid) == sizeof(record.uuid));
  std::memcpy(device.uuid, &record.uuid, sizeof(device.uuid));
  device.compute_major = record.computeCapabilityMajor;
  device.compute_minor = record.computeCapabilityMinor;
  device.threads_per_sm = record.maxWarpsPerMultiprocessor * record.numThreadsPerWarp;
  device.blocks_per_sm = record.maxBlocksPerMultiprocessor;
  device.registers_per_sm = record.maxRegistersPerMultiprocessor;
  device.registers_per_block = record.maxRegistersPerBlock;
  device.shared_per_sm = record.maxSharedMemoryPerMultiprocessor;
  device.shared_per_block = record.maxSharedMemoryPerBlock;
  device.warps_per_sm = record.maxWarpsPerMultiprocessor;
  device.memory_bytes = record.globalMemorySize;
  session.spool.write(spool::Type::device, device);
}

void take(Session& session, const CUpti_Activity& record, std::vector<spool::Kernel>& kernels) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      take(session, reinterpret_cast<const KernelRecord&>(record), kernels);
      break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CopyRecord&>(record);
      take_copy(session, copy, copy.deviceId);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = reinterpret_cast<const PeerRecord&>(record);
      take_copy(session, copy, copy.dstDeviceId);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:
      take(session, reinterpret_cast<const FillRecord&>(record));
      break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      take(session, reinterpret_cast<const OverheadRecord&>(record));
      break;
    case CUPTI_ACTIVITY_KIND_DEVICE:
      take(session, reinterpret_cast<const DeviceRecord&>(record));
      break;
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
      const auto& context = reinterpret_cast<const ContextRecord&>(record);
      session.spool.write(spool::Type::context, spool::Context{context.contextId, context.deviceId});
      break;
    }
    default:
      break;
  }
}

void take_records(Session& session, CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  // Written under one lock, because each launch of the program's threads takes the lock of the spool.
  std::vector<spool::Kernel> kernels;
  while (cupti().next_record(buffer, valid, &record) == CUPTI_SUCCESS) take(session, *record, kernels);
  session.spool.write_all(spool::Type::kernel, kernels);
  session.kernels += kernels.size();
  std::size_t dropped = 0;
  if (cupti().dropped(context, stream, &dropped) == CUPTI_SUCCESS) session.dropped += dropped;
}

}  // namespace

void remember_place(std::uint32_t correlation, spool::Id place) {
  if (place == 0) return;
  AwaitedPlaces& known = awaited();
  const std::lock_guard lock(known.mutex);
  if (known.places.size() >= kMostAwaited) known.places.clear();
  known.places[correlation] = place;
}

void prepare_buffers() {
  BufferPool& buffers = pool();
  const std::lock_guard lock(buffers.mutex);
  while (buffers.free.size() < kPrepared) {
    auto* const buffer = static_cast<std::uint8_t*>(std::aligned_alloc(4096, BufferSize::kMost));
    if (buffer == nullptr) return;
    std::memset(buffer, 0, BufferSize::kMost);
    buffers.free.push_back(buffer);
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *most_records = 0;
  BufferPool& buffers = pool();
  {
    const std::lock_guard lock(buffers.mutex);
    *size = buffers.size.next(now());
    if (!buffers.free.empty()) {
      *buffer = buffers.free.back();
      buffers.free.pop_back();
      return;
    }
  }
  // Zeroed by the system, page by page as it is filled.
  *buffer = static_cast<std::uint8_t*>(std::calloc(1, BufferSize::kMost));
  if (*buffer == nullptr) *size = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  if (buffer == nullptr) return;
  try {
    if (Session* const current = session(); current != nullptr) {
      take_records(*current, context, stream, buffer, valid);
    }
    std::memset(buffer, 0, valid);
    BufferPool& buffers = pool();
    const std::lock_guard lock(buffers.mutex);
    buffers.free.push_back(buffer);
  } catch (...) {  // called by CUPTI, which is C: exceptions must not propagate
  }
}

}  // namespace roofline::inject
