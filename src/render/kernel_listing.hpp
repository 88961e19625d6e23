// A kernel's samples for people: what its warps waited for, its source lines, its instructions.
#pragma once

#include <cstddef>
#include <string>

#include "render/render.hpp"
#include "render/text_table.hpp"
#include "report/kernel_samples.hpp"
#include "report/report.hpp"

namespace roofline {

/// "kernel.cu:41"; "no line" of instructions that have none.
std::string place_of(const SampledLine& line);
/// "loads from global memory 61 %, the result of the instruction before 8 %".
std::string waits_of(const SampledLine& line, std::size_t most);

/// "in 1.3 s, one per SM every 65,536 cycles"; "by ncu 2025.3.1, one per SM every 2,048 cycles".
std::string how_sampled(const KernelSamples& samples);

/// The bytes of a launch by memory level: rate, hit rate, sectors of 32 bytes per request, bytes moved over those asked
/// for. No rows without counters.
TextTable memory_table(const Point& point, const Machine& machine);
TextTable waits_table(const SampledKernel& kernel);
TextTable lines_table(const SampledKernel& kernel, std::size_t most);
/// Instructions of the lines with the most samples, by offset.
TextTable instructions_table(const SampledKernel& kernel, std::size_t most);

/// A list of the kernels that have samples.
std::string render_sampled_kernels(const Report& report, const TerminalStyle& style);
/// Complete listing of one kernel.
std::string render_kernel_listing(const Report& report, const SampledKernel& kernel, const TerminalStyle& style);

}  // namespace roofline
