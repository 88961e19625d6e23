#include "report/memory_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostLines = 8;

std::string of_device(const GpuMemory& memory, const MemoryProfile& all) {
  std::string text = fmt::format("{} memory", name_of(memory, all));
  if (memory.source == MemorySource::torch) {
    text += fmt::format(": peak {} allocated, {} reserved by PyTorch", si(memory.peak_allocated, "B"),
                        si(memory.peak_reserved, "B"));
    if (memory.outside > 0) text += fmt::format(", {} of CUDA outside its allocator", si(memory.outside, "B"));
  } else {
    text += fmt::format(": peak {} allocated with CUDA", si(memory.peak_allocated, "B"));
  }
  if (memory.capacity > 0) text += fmt::format(", of {}", si(memory.capacity, "B"));
  return text + ".";
}

std::string of_host(const HostMemory& memory) {
  return fmt::format("Host memory of process {}: peak {} resident.", memory.pid, si(memory.peak, "B"));
}

}  // namespace

std::string name_of(const GpuMemory& memory, const MemoryProfile& all) {
  const bool several = std::any_of(all.devices.begin(), all.devices.end(),
                                   [&](const GpuMemory& other) { return other.pid != memory.pid; });
  return several ? fmt::format("GPU {}, process {},", memory.device, memory.pid) : fmt::format("GPU {}", memory.device);
}

std::vector<std::string> memory_lines(const Report& report) {
  std::vector<std::string> lines;
  if (!report.profile) return lines;
  const MemoryProfile& memory = report.profile->memory;
  for (const GpuMemory& device : memory.devices) {
    if (lines.size() < kMostLines) lines.push_back(of_device(device, memory));
  }
  if (!memory.host.empty()) lines.push_back(of_host(memory.host.front()));
  return lines;
}

}  // namespace roofline
