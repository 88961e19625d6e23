// How the GPUs of this host hang together. Includes no CUDA header; absent.cpp has it in a build without CUDA.
#pragma once

#include <span>
#include <string>

#include "model/node.hpp"

namespace roofline {

/// Adds the places of these GPUs, and a link for each ordered pair of them, without ceilings. Creates no context.
/// Throws Error without a usable driver.
void describe_cuda_topology(std::span<const int> devices, Node& node);

/// "0000:3b:00.0". Throws Error. Not in a build without CUDA, like the next one.
std::string pci_address(int device);

/// True if the first GPU can access the memory of the second one.
bool reaches(int from, int to);

}  // namespace roofline
