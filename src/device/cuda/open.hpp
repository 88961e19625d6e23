// The door to the CUDA half: implemented by the files beside this one in a build with CUDA, and by
// absent.cpp, which only says so, in a build without. Includes no CUDA header.
#pragma once

#include <memory>
#include <vector>

#include "device/counter_reader.hpp"
#include "device/device.hpp"

namespace roofline {

class Rendezvous;

/// Every CUDA GPU, usable or not. Without driver or GPU, or in a build without CUDA: one listing with the reason.
std::vector<DeviceListing> list_cuda_devices();

/// Opens CUDA device `index`. Throws DeviceError when it can't be used.
std::unique_ptr<Device> open_cuda_device(int index);

/// The same as the rank of one process, which has begun with the others.
std::unique_ptr<Device> open_cuda_rank(int index, std::shared_ptr<Rendezvous> others);

/// How the kernels of a launch are laid out, read from a capture of it. Throws Error.
std::vector<KernelLaunch> cuda_launch_layout(Device& device, const std::function<void()>& launch);

/// The counters of a CUDA device. Throws Error when they can't be read.
std::unique_ptr<CounterReader> open_cuda_counters(Device& device, CounterSet set);

}  // namespace roofline
