// Memory use of a program as sentences for page and terminal.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// "GPU memory: peak 1.9 GB allocated, 2.0 GB reserved of 80 GB", one per process and GPU, and the host's.
std::vector<std::string> memory_lines(const Report& report);

/// "GPU 0", with the process where several use GPUs.
std::string name_of(const GpuMemory& memory, const MemoryProfile& all);

}  // namespace roofline
