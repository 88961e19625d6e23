// A driver without a GPU: launches end at once, copies move nothing, and CUPTI is told of all.
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "fake_gpu.hpp"

namespace {

std::atomic<const FakeCuptiHooks*> hooks;
std::atomic<std::uint32_t> last_correlation = 100;
std::atomic<std::uint64_t> last_node = 1000;
std::atomic<std::uint64_t> next_address = 0x302000000;
CUcontext const kContext = reinterpret_cast<CUcontext>(0x1234);

struct Graph {
  std::vector<std::unique_ptr<FakeNode>> nodes;
};
struct Capture {
  std::mutex mutex;
  std::set<CUstream> streams;
  std::vector<Graph*> graphs;
} captures;

/// Tells CUPTI of a call as it is entered and as it is left.
class Call {
 public:
  Call(CUpti_CallbackId id, const char* name, const void* parameters, const char* symbol = nullptr)
      : id_(id), name_(name), parameters_(parameters), symbol_(symbol), correlation_(++last_correlation) {
    if (const auto* told = hooks.load()) told->call(id_, name_, parameters_, symbol_, kContext, correlation_, nullptr);
  }
  ~Call() {
    if (const auto* told = hooks.load()) told->call(id_, name_, parameters_, symbol_, kContext, correlation_, &status);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  std::uint32_t correlation() const { return correlation_; }
  CUresult status = CUDA_SUCCESS;

 private:
  CUpti_CallbackId id_;
  const char* name_;
  const void* parameters_;
  const char* symbol_;
  std::uint32_t correlation_;
};
#define FAKE_CALL(name, ...) const Call call(CUPTI_DRIVER_TRACE_CBID_##name, #name, __VA_ARGS__)

Graph* capturing(CUstream stream) {
  const std::lock_guard lock(captures.mutex);
  return captures.streams.count(stream) != 0 ? captures.graphs.back() : nullptr;
}

void add_node(Graph& graph, FakeNode node) {
  node.id = ++last_node;
  graph.nodes.push_back(std::make_unique<FakeNode>(node));
  CUpti_GraphData data = {};
  data.graph = reinterpret_cast<CUgraph>(&graph);
  data.node = reinterpret_cast<CUgraphNode>(graph.nodes.back().get());
  data.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;  // whatever it is: so does CUPTI 13.0
  if (const auto* told = hooks.load()) told->resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, kContext, &data);
}

FakeFunction* function_of(CUfunction handle) { return reinterpret_cast<FakeFunction*>(handle); }

CUresult launch(const Call& call, CUfunction function, const unsigned* grid, const unsigned* block, CUstream stream) {
  const char* const symbol = function_of(function)->symbol;
  if (Graph* const graph = capturing(stream)) {
    add_node(*graph,
             {0, CU_GRAPH_NODE_TYPE_KERNEL, symbol, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, 0});
  } else if (const auto* told = hooks.load()) {
    told->kernel(symbol, call.correlation(), grid, block, 0, 0);
  }
  return CUDA_SUCCESS;
}

CUresult parameter(const FakeFunction& function, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (index >= function.parameters) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  for (std::size_t before = 0; before < index; ++before) *offset += (function.sizes[before] + 7) / 8 * 8;
  *size = function.sizes[index];
  return CUDA_SUCCESS;
}

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT void fake_driver_set_hooks(const FakeCuptiHooks* given) { hooks = given; }

FAKE_EXPORT CUresult cuInit(unsigned) {
  static const bool injected = [] {
    const char* const path = std::getenv("CUDA_INJECTION64_PATH");
    void* const library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
    void* const entry = library != nullptr ? dlsym(library, "InitializeInjection") : nullptr;
    if (entry != nullptr) reinterpret_cast<int (*)()>(entry)();
    return entry != nullptr;
  }();
  return injected || std::getenv("CUDA_INJECTION64_PATH") == nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

FAKE_EXPORT CUresult cuDriverGetVersion(int* version) {
  const char* const given = std::getenv("FAKE_DRIVER_VERSION");
  *version = given != nullptr ? std::atoi(given) : 13000;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                    unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  const cuLaunchKernel_params given = {f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra};
  Call call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel", &given, function_of(f)->symbol);
  if (gx == 0) return call.status = CUDA_ERROR_INVALID_VALUE;
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  return launch(call, f, grid, block, stream);
}

FAKE_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra) {
  const cuLaunchKernelEx_params given = {config, f, parameters, extra};
  const Call call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, "cuLaunchKernelEx_ptsz", &given,
                  function_of(f)->symbol);
  const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  const unsigned block[3] = {config->blockDimX, config->blockDimY, config->blockDimZ};
  return launch(call, f, grid, block, config->hStream);
}

FAKE_EXPORT CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t* offset, size_t* size) {
  return function_of(f)->is_kernel ? CUDA_ERROR_INVALID_HANDLE : parameter(*function_of(f), index, offset, size);
}
FAKE_EXPORT CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  const auto& function = *reinterpret_cast<FakeFunction*>(kernel);
  return function.is_kernel ? parameter(function, index, offset, size) : CUDA_ERROR_INVALID_HANDLE;
}
FAKE_EXPORT CUresult cuFuncGetName(const char** name, CUfunction f) {
  *name = function_of(f)->symbol;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  constexpr std::size_t kMemory = std::size_t{1} << 40;
  const cuMemAlloc_v2_params given = {address, bytes};
  Call call(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, "cuMemAlloc_v2", &given);
  if (bytes > kMemory) return call.status = CUDA_ERROR_OUT_OF_MEMORY;
  *address = next_address.fetch_add((bytes + 511) / 512 * 512);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  const cuMemFree_v2_params given = {address};
  FAKE_CALL(cuMemFree_v2, &given);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  const cuMemcpyHtoDAsync_v2_params given = {to, from, bytes, stream};
  FAKE_CALL(cuMemcpyHtoDAsync_v2, &given);
  if (Graph* const graph = capturing(stream)) {
    add_node(*graph, {0, CU_GRAPH_NODE_TYPE_MEMCPY, nullptr, {}, {}, bytes});
  } else if (const auto* told = hooks.load()) {
    told->copy(bytes, call.correlation(), 0, 0);
  }
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  const cuMemsetD8Async_params given = {to, value, bytes, stream};
  FAKE_CALL(cuMemsetD8Async, &given);
  if (const auto* told = hooks.load()) told->fill(bytes, call.correlation(), 0, 0);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  const cuStreamSynchronize_params given = {stream};
  FAKE_CALL(cuStreamSynchronize, &given);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventQuery(CUevent event) {
  const cuEventQuery_params given = {event};
  FAKE_CALL(cuEventQuery, &given);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) { return CUDA_SUCCESS; }

FAKE_EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status = capturing(stream) != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
// NOLINTNEXTLINE(readability-identifier-naming): the driver's name for it
FAKE_EXPORT CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus* status) {
  return cuStreamIsCapturing(stream, status);
}

FAKE_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  const cuStreamBeginCapture_v2_params given = {stream, mode};
  FAKE_CALL(cuStreamBeginCapture_v2, &given);
  const std::lock_guard lock(captures.mutex);
  captures.streams.insert(stream);
  captures.graphs.push_back(new Graph);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const cuStreamEndCapture_params given = {stream, graph};
  FAKE_CALL(cuStreamEndCapture, &given);
  const std::lock_guard lock(captures.mutex);
  captures.streams.erase(stream);
  *graph = reinterpret_cast<CUgraph>(captures.graphs.back());
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  *graph = reinterpret_cast<CUgraph>(new Graph);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                             size_t count, const CUDA_KERNEL_NODE_PARAMS* p) {
  const cuGraphAddKernelNode_v2_params given = {node, graph, dependencies, count, p};
  FAKE_CALL(cuGraphAddKernelNode_v2, &given);
  auto& made = *reinterpret_cast<Graph*>(graph);
  add_node(made, {0,
                  CU_GRAPH_NODE_TYPE_KERNEL,
                  function_of(p->func)->symbol,
                  {p->gridDimX, p->gridDimY, p->gridDimZ},
                  {p->blockDimX, p->blockDimY, p->blockDimZ},
                  0});
  *node = reinterpret_cast<CUgraphNode>(made.nodes.back().get());
  return CUDA_SUCCESS;
}

/// Of clones, as the driver makes them: each is told of as made, with no word of its type, and then as cloned.
FAKE_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long flags) {
  const cuGraphInstantiateWithFlags_params given = {made, graph, flags};
  FAKE_CALL(cuGraphInstantiateWithFlags, &given);
  auto* const clone = new Graph;
  for (const auto& node : reinterpret_cast<Graph*>(graph)->nodes) {
    add_node(*clone, *node);
    CUpti_GraphData data = {};
    data.graph = reinterpret_cast<CUgraph>(clone);
    data.originalGraph = graph;
    data.node = reinterpret_cast<CUgraphNode>(clone->nodes.back().get());
    data.originalNode = reinterpret_cast<CUgraphNode>(node.get());
    if (const auto* told = hooks.load()) told->resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, kContext, &data);
  }
  *made = reinterpret_cast<CUgraphExec>(clone);
  CUpti_GraphData data = {};
  data.graph = graph;
  data.graphExec = *made;
  if (const auto* told = hooks.load()) told->resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, kContext, &data);
  return CUDA_SUCCESS;
}

/// Another grid for all kernels of an executable graph, as an update of it gives.
FAKE_EXPORT void fake_graph_update(CUgraphExec graph, unsigned grid) {
  for (auto& node : reinterpret_cast<Graph*>(graph)->nodes) node->grid[0] = grid;
}

FAKE_EXPORT CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  const cuGraphLaunch_params given = {graph, stream};
  FAKE_CALL(cuGraphLaunch, &given);
  const auto* told = hooks.load();
  for (const auto& node : reinterpret_cast<Graph*>(graph)->nodes) {
    if (told == nullptr) break;
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      told->kernel(node->symbol, call.correlation(), node->grid, node->block, 7, node->id);
    } else {
      told->copy(node->bytes, call.correlation(), 7, node->id);
    }
  }
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  if (const auto* told = hooks.load()) {
    told->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context, nullptr);
  }
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleUnload(CUmodule module) {
  const cuModuleUnload_params given = {module};
  FAKE_CALL(cuModuleUnload, &given);
  if (const auto* told = hooks.load()) {
    told->resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, kContext, nullptr);
  }
  return CUDA_SUCCESS;
}
