// How the kernels of a launch are laid out: a captured graph, read node by node through the driver, which also has
// the kernels of libraries. Copies and fills are left out.
#include <cuda.h>
#include <fmt/format.h>

#include <array>
#include <string>

#include "device/cuda/capture.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/open.hpp"
#include "host/shared_library.hpp"
#include "model/error.hpp"
#include "model/occupancy.hpp"
#include "text/demangle.hpp"

namespace roofline {
namespace {

struct Driver : SharedLibrary {
  using SharedLibrary::SharedLibrary;
  CUresult (*node_params)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*) = symbol("cuGraphKernelNodeGetParams_v2");
  decltype(&cuKernelGetFunction) kernel_function = symbol("cuKernelGetFunction");
  decltype(&cuFuncGetName) name = symbol("cuFuncGetName");
  decltype(&cuFuncGetAttribute) attribute = symbol("cuFuncGetAttribute");
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) blocks_per_sm =
      symbol("cuOccupancyMaxActiveBlocksPerMultiprocessor");
};

const Driver& driver() {
  static const Driver table(std::array<std::string, 1>{"libcuda.so.1"});
  if (!table.complete()) throw Error("the CUDA driver is too old to report launch configurations");
  return table;
}

void check_driver(CUresult status, const char* what) {
  if (status != CUDA_SUCCESS) throw Error(fmt::format("{} (CUDA driver error {})", what, static_cast<int>(status)));
}

std::int64_t attribute_of(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  check_driver(driver().attribute(&value, attribute, function), "reading a kernel's attributes");
  return value;
}

SmLimits sm_limits(const CudaDevice& device) {
  const auto read = [&](cudaDeviceAttr attribute) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device.properties().index), "reading the SM's limits");
    return value;
  };
  return {.threads = device.properties().threads_per_sm,
          .blocks = read(cudaDevAttrMaxBlocksPerMultiprocessor),
          .registers = read(cudaDevAttrMaxRegistersPerMultiprocessor),
          .shared_bytes = static_cast<double>(device.properties().shared_bytes_per_sm),
          .reserved_shared_bytes = static_cast<double>(read(cudaDevAttrReservedSharedMemoryPerBlock))};
}

KernelLaunch describe(const CudaDevice& device, cudaGraphNode_t node) {
  CUDA_KERNEL_NODE_PARAMS_v2 params = {};
  check_driver(driver().node_params(node, &params), "reading a kernel of a graph");
  CUfunction function = params.func;
  if (function == nullptr) check_driver(driver().kernel_function(&function, params.kern), "finding a kernel");
  const char* name = nullptr;
  check_driver(driver().name(&name, function), "reading a kernel's name");

  KernelLaunch kernel;
  kernel.kernel = demangled(name);
  kernel.blocks = std::int64_t{params.gridDimX} * params.gridDimY * params.gridDimZ;
  kernel.threads = std::int64_t{params.blockDimX} * params.blockDimY * params.blockDimZ;
  kernel.registers = attribute_of(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
  kernel.local_bytes = static_cast<double>(attribute_of(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  kernel.shared_bytes =
      static_cast<double>(attribute_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) + params.sharedMemBytes);
  int resident = 0;
  check_driver(driver().blocks_per_sm(&resident, function, static_cast<int>(kernel.threads), params.sharedMemBytes),
               "computing a kernel's occupancy");
  kernel.blocks_per_sm = resident;
  fill_occupancy(kernel, sm_limits(device), device.properties().sm_count);
  return kernel;
}

void collect(const CudaDevice& device, cudaGraph_t graph, std::vector<KernelLaunch>& kernels) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), "reading a graph");
  std::vector<cudaGraphNode_t> nodes(count);
  check(cudaGraphGetNodes(graph, nodes.data(), &count), "reading a graph");
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    check(cudaGraphNodeGetType(node, &type), "reading a graph");
    if (type == cudaGraphNodeTypeKernel) kernels.push_back(describe(device, node));
    if (type != cudaGraphNodeTypeGraph) continue;
    cudaGraph_t child = nullptr;
    check(cudaGraphChildGraphNodeGetGraph(node, &child), "reading a graph");
    collect(device, child, kernels);
  }
}

}  // namespace

std::vector<KernelLaunch> cuda_launch_layout(Device& any, const std::function<void()>& launch) {
  const CudaDevice& device = as_cuda(any);
  const Graph graph = capture(device.stream(), launch);
  std::vector<KernelLaunch> kernels;
  collect(device, graph.get(), kernels);
  return kernels;
}

}  // namespace roofline
