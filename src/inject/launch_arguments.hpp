// Reads the arguments of launches, and of calls that add a kernel to a graph.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include "inject/driver_calls.hpp"
#include "inject/launches.hpp"

namespace roofline::inject {

struct LaunchArguments {
  KernelLaunch kernel;
  CUstream stream = nullptr;
  CUgraphExec graph = nullptr;  ///< nullptr: a kernel is launched
};
LaunchArguments launch_arguments(Arguments arguments, const CUpti_CallbackData& data);

/// Arguments of cuGraphAddKernelNode, in all its versions. False if the program gave none.
bool node_arguments(const CUpti_CallbackData& data, KernelLaunch& launch);
/// Arguments of cuGraphAddNode, in all its versions. False if the node is no kernel.
bool any_node_arguments(const CUpti_CallbackData& data, KernelLaunch& launch);

}  // namespace roofline::inject
