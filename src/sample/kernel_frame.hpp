// The frame of a thread that ran in the kernel: a page fault or a system call of the frame around it.
#pragma once

#include <string_view>

#include "sample/host_samples.hpp"

namespace roofline {

inline constexpr std::string_view kKernelFunction = "[kernel]";

inline bool is_kernel(const HostFrame& frame) { return frame.function == kKernelFunction && frame.file.empty(); }

}  // namespace roofline
