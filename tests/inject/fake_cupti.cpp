// A CUPTI that tells of what the fake driver does. FAKE_CUPTI says how it misbehaves: "subscribed" by another tool.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "fake_gpu.hpp"

namespace {

constexpr std::size_t kCalls = CUPTI_DRIVER_TRACE_CBID_SIZE;
std::array<std::atomic<bool>, kCalls> calls_on;
std::array<std::atomic<bool>, CUPTI_CBID_RESOURCE_SIZE> resources_on;
std::array<std::atomic<bool>, CUPTI_ACTIVITY_KIND_COUNT> activities_on;
std::atomic<CUpti_CallbackFunc> subscriber;
std::atomic<CUpti_TimestampCallbackFunc> clock_of_tool;
std::atomic<unsigned> dropped;
CUpti_BuffersCallbackRequestFunc request_buffer;
CUpti_BuffersCallbackCompleteFunc complete_buffer;

std::mutex mutex;
std::uint8_t* buffer = nullptr;
std::size_t buffer_size = 0, buffer_used = 0;

std::uint64_t time_now() {
  const auto clock = clock_of_tool.load();
  return clock != nullptr ? clock() : 0;
}

void deliver() {
  std::uint8_t* full = nullptr;
  std::size_t size = 0, used = 0;
  {
    const std::lock_guard lock(mutex);
    std::swap(full, buffer);
    size = buffer_size;
    used = buffer_used;
    buffer_size = buffer_used = 0;
  }
  if (full != nullptr) complete_buffer(nullptr, 0, full, size, used);
}

template <typename Record>
void record(const Record& value) {
  bool full = false;
  {
    const std::lock_guard lock(mutex);
    if (buffer == nullptr) {
      std::size_t most = 0;
      request_buffer(&buffer, &buffer_size, &most);
      buffer_used = 0;
    }
    if (buffer == nullptr || buffer_used + sizeof(value) > buffer_size) {
      full = true;
    } else {
      std::memcpy(buffer + buffer_used, &value, sizeof(value));
      buffer_used += sizeof(value);
    }
  }
  if (!full) return;
  deliver();
  record(value);
}

thread_local std::uint64_t correlation_data;

void on_call(CUpti_CallbackId id, const char* name, const void* parameters, const char* symbol, CUcontext context,
             std::uint32_t correlation, CUresult* status) {
  const auto told = subscriber.load();
  if (told == nullptr || !calls_on[id]) return;
  CUpti_CallbackData data = {};
  data.callbackSite = status == nullptr ? CUPTI_API_ENTER : CUPTI_API_EXIT;
  data.functionName = name;
  data.functionParams = parameters;
  data.functionReturnValue = status;
  data.symbolName = symbol;
  data.context = context;
  data.correlationData = &correlation_data;
  data.correlationId = correlation;
  told(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

void on_resource(CUpti_CallbackId id, CUcontext context, void* descriptor) {
  const auto told = subscriber.load();
  if (told == nullptr || !resources_on[id]) return;
  CUpti_ResourceData data = {};
  data.context = context;
  data.resourceDescriptor = descriptor;
  told(nullptr, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void on_kernel(const char* name, std::uint32_t correlation, const unsigned* grid, const unsigned* block,
               std::uint32_t graph, std::uint64_t node) {
  if (!activities_on[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) return;
  CUpti_ActivityKernel9 kernel = {};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = name;
  kernel.start = time_now();
  kernel.end = kernel.start + 1000;
  if (std::string_view(name) == "timeless") kernel.start = kernel.end = 0;
  kernel.correlationId = correlation;
  kernel.contextId = 1;
  kernel.streamId = 7;
  kernel.gridX = static_cast<int>(grid[0]);
  kernel.gridY = static_cast<int>(grid[1]);
  kernel.gridZ = static_cast<int>(grid[2]);
  kernel.blockX = static_cast<int>(block[0]);
  kernel.blockY = static_cast<int>(block[1]);
  kernel.blockZ = static_cast<int>(block[2]);
  kernel.registersPerThread = 32;
  kernel.graphId = graph;
  kernel.graphNodeId = node;
  record(kernel);
}

template <typename Record>
void transfer(Record transfer, CUpti_ActivityKind kind, std::uint64_t bytes, std::uint32_t correlation,
              std::uint32_t graph, std::uint64_t node) {
  if (!activities_on[kind]) return;
  transfer.kind = kind;
  transfer.start = time_now();
  transfer.end = transfer.start + 500;
  transfer.bytes = bytes;
  transfer.correlationId = correlation;
  transfer.graphId = graph;
  transfer.graphNodeId = node;
  record(transfer);
}

void on_copy(std::uint64_t bytes, std::uint32_t correlation, std::uint32_t graph, std::uint64_t node) {
  CUpti_ActivityMemcpy5 copy = {};
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  transfer(copy, CUPTI_ACTIVITY_KIND_MEMCPY, bytes, correlation, graph, node);
}

void on_fill(std::uint64_t bytes, std::uint32_t correlation, std::uint32_t graph, std::uint64_t node) {
  transfer(CUpti_ActivityMemset4{}, CUPTI_ACTIVITY_KIND_MEMSET, bytes, correlation, graph, node);
}

constexpr FakeCuptiHooks kHooks = {on_call, on_resource, on_kernel, on_copy, on_fill};

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy5);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return sizeof(CUpti_ActivityDevice4);
    default:
      return sizeof(CUpti_ActivityKernel9);
  }
}

bool misbehaves(const char* how) {
  const char* const given = std::getenv("FAKE_CUPTI");
  return given != nullptr && std::strcmp(given, how) == 0;
}

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT bool fake_cupti_records() { return activities_on[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]; }
FAKE_EXPORT bool fake_cupti_reports(CUpti_CallbackId id) { return calls_on.at(id); }
FAKE_EXPORT void fake_cupti_drop(unsigned records) { dropped += records; }

FAKE_EXPORT CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "as the test wants it";
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void*) {
  if (misbehaves("subscribed")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(0x77);
  subscriber = callback;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  reinterpret_cast<void (*)(const FakeCuptiHooks*)>(dlsym(driver, "fake_driver_set_hooks"))(&kHooks);
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiEnableCallback(std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                            CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    calls_on.at(id) = on != 0;
  } else {
    resources_on.at(id) = on != 0;
  }
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiEnableDomain(std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    for (auto& call : calls_on) call = on != 0;
  } else {
    for (auto& resource : resources_on) resource = on != 0;
  }
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t id, const char** name) {
  if (id >= kCalls) return CUPTI_ERROR_INVALID_PARAMETER;
  switch (id) {
#define FAKE_NAME(call)                \
  case CUPTI_DRIVER_TRACE_CBID_##call: \
    *name = #call;                     \
    break
    FAKE_NAME(cuLaunchKernel);
    FAKE_NAME(cuLaunchKernelEx_ptsz);
    FAKE_NAME(cuMemAlloc_v2);
    FAKE_NAME(cuMemFree_v2);
    FAKE_NAME(cuMemcpyHtoDAsync_v2);
    FAKE_NAME(cuMemsetD8Async);
    FAKE_NAME(cuStreamSynchronize);
    FAKE_NAME(cuEventQuery);
    FAKE_NAME(cuStreamBeginCapture_v2);
    FAKE_NAME(cuStreamEndCapture);
    FAKE_NAME(cuGraphAddKernelNode_v2);
    FAKE_NAME(cuGraphInstantiateWithFlags);
    FAKE_NAME(cuGraphLaunch);
    FAKE_NAME(cuModuleUnload);
    default:
      *name = "cuNotOfInterest";
  }
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                       CUpti_BuffersCallbackCompleteFunc complete) {
  request_buffer = request;
  complete_buffer = complete;
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  clock_of_tool = clock;
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t*, void*) { return CUPTI_SUCCESS; }
FAKE_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (misbehaves("no kernels") && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) return CUPTI_ERROR_NOT_SUPPORTED;
  activities_on.at(kind) = true;
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
    CUpti_ActivityDevice4 device = {};
    device.kind = kind;
    device.name = "Fake GPU";
    device.numMultiprocessors = 132;
    device.maxWarpsPerMultiprocessor = 64;
    device.numThreadsPerWarp = 32;
    device.globalMemorySize = std::uint64_t{80} << 30;
    record(device);
  }
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  activities_on.at(kind) = false;
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  static std::atomic<int> flushes;
  if (flag == 0 && misbehaves("crashes when flushed often") && ++flushes > 4) std::abort();
  deliver();
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiActivityFlushPeriod(std::uint32_t) { return CUPTI_SUCCESS; }
FAKE_EXPORT CUptiResult cuptiActivityGetNextRecord(std::uint8_t* given, size_t valid, CUpti_Activity** next) {
  std::uint8_t* at = given;
  if (*next != nullptr) at = reinterpret_cast<std::uint8_t*>(*next) + size_of((*next)->kind);
  if (at >= given + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *next = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, size_t* count) {
  *count = dropped.exchange(0);
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  *id = reinterpret_cast<FakeNode*>(node)->id;
  return CUPTI_SUCCESS;
}
