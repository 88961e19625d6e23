// A picture of what a launch moves through the GPU's memory: a box a level, an arrow a way.
#pragma once

#include <string>
#include <vector>

#include "report/memory_flow.hpp"

namespace roofline {

/// An <svg>. The width of an arrow is the share of its roof.
std::string memory_chart(const std::vector<MemoryFlow>& flows);

/// The charts of the kernels with the most time, longest first; empty without any.
std::string html_memory_charts(const Report& report);

}  // namespace roofline
