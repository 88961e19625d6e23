#include "inject/launch_arguments.hpp"

#include <cstring>

namespace roofline::inject {
namespace {

template <typename Parameters>
KernelLaunch plain_launch(const Parameters& given) {
  KernelLaunch launch;
  launch.function = given.f;
  launch.geometry.grid = {given.gridDimX, given.gridDimY, given.gridDimZ};
  launch.geometry.block = {given.blockDimX, given.blockDimY, given.blockDimZ};
  launch.geometry.dynamic_shared = given.sharedMemBytes;
  launch.parameters = given.kernelParams;
  return launch;
}

KernelLaunch extended_launch(const cuLaunchKernelEx_params& given) {
  const CUlaunchConfig& config = *given.config;
  KernelLaunch launch;
  launch.function = given.f;
  launch.geometry.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  launch.geometry.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  launch.geometry.dynamic_shared = config.sharedMemBytes;
  for (unsigned index = 0; index < config.numAttrs; ++index) {
    const CUlaunchAttribute& attribute = config.attrs[index];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& cluster = attribute.value.clusterDim;
      launch.geometry.cluster = {cluster.x, cluster.y, cluster.z};
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      launch.cooperative = attribute.value.cooperative != 0;
    }
  }
  launch.parameters = given.kernelParams;
  launch.extra = given.extra;
  return launch;
}

/// The arguments that calls which add graph nodes share with a launch.
template <typename Node>
KernelLaunch node_launch(const Node& node) {
  KernelLaunch launch;
  launch.function = node.func;
  if constexpr (requires { node.kern; }) {
    if (launch.function == nullptr) launch.function = reinterpret_cast<CUfunction>(node.kern);
  }
  launch.geometry.grid = {node.gridDimX, node.gridDimY, node.gridDimZ};
  launch.geometry.block = {node.blockDimX, node.blockDimY, node.blockDimZ};
  launch.geometry.dynamic_shared = node.sharedMemBytes;
  launch.parameters = node.kernelParams;
  launch.extra = node.extra;
  return launch;
}

}  // namespace

LaunchArguments launch_arguments(Arguments arguments, const CUpti_CallbackData& data) {
  LaunchArguments result;
  const void* const given = data.functionParams;
  switch (arguments) {
    case Arguments::kernel: {
      const auto& launch = *static_cast<const cuLaunchKernel_params*>(given);
      result.kernel = plain_launch(launch);
      result.kernel.extra = launch.extra;
      result.stream = launch.hStream;
      break;
    }
    case Arguments::kernel_ex: {
      const auto& launch = *static_cast<const cuLaunchKernelEx_params*>(given);
      result.kernel = extended_launch(launch);
      result.stream = launch.config->hStream;
      break;
    }
    case Arguments::cooperative: {
      const auto& launch = *static_cast<const cuLaunchCooperativeKernel_params*>(given);
      result.kernel = plain_launch(launch);
      result.kernel.cooperative = true;
      result.stream = launch.hStream;
      break;
    }
    case Arguments::multi_device: {
      const auto& launches = *static_cast<const cuLaunchCooperativeKernelMultiDevice_params*>(given);
      const CUDA_LAUNCH_PARAMS& first = launches.launchParamsList[0];
      result.kernel.function = first.function;
      result.kernel.geometry.grid = {first.gridDimX, first.gridDimY, first.gridDimZ};
      result.kernel.geometry.block = {first.blockDimX, first.blockDimY, first.blockDimZ};
      result.kernel.geometry.dynamic_shared = first.sharedMemBytes;
      result.kernel.parameters = first.kernelParams;
      result.kernel.cooperative = result.kernel.uncountable = true;
      result.stream = first.hStream;
      break;
    }
    case Arguments::grid:
      result.kernel.function = static_cast<const cuLaunch_params*>(given)->f;
      result.kernel.uncountable = true;
      break;
    case Arguments::graph: {
      const auto& launch = *static_cast<const cuGraphLaunch_params*>(given);
      result.graph = launch.hGraph;
      result.stream = launch.hStream;
      break;
    }
    default:
      break;
  }
  if (result.graph == nullptr) result.kernel.symbol = data.symbolName;
  return result;
}

bool node_arguments(const CUpti_CallbackData& data, KernelLaunch& launch) {
  const auto* const node = static_cast<const cuGraphAddKernelNode_params*>(data.functionParams)->nodeParams;
  if (node == nullptr) return false;
  // The second version of the parameters has the first one's beginning.
  launch = std::strcmp(data.functionName, "cuGraphAddKernelNode") == 0
               ? node_launch(*node)
               : node_launch(*reinterpret_cast<const CUDA_KERNEL_NODE_PARAMS_v2*>(node));
  return true;
}

bool any_node_arguments(const CUpti_CallbackData& data, KernelLaunch& launch) {
  const auto* const node = std::strcmp(data.functionName, "cuGraphAddNode") == 0
                               ? static_cast<const cuGraphAddNode_params*>(data.functionParams)->nodeParams
                               : static_cast<const cuGraphAddNode_v2_params*>(data.functionParams)->nodeParams;
  if (node == nullptr || node->type != CU_GRAPH_NODE_TYPE_KERNEL) return false;
  launch = node_launch(node->kernel);
  return true;
}

}  // namespace roofline::inject
