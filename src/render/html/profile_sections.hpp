// Sections of a profiled program's page, in addition to those that it shares with a suite's page. Empty without data.
#pragma once

#include <string>
#include <vector>

#include "render/html/marks.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/report.hpp"

namespace roofline {

std::string html_steps(const Report& report);      ///< start-up, end and slow steps
std::string html_ranks(const Report& report);      ///< ranks of a job and their collectives
std::string html_lines(const Report& report);      ///< by line of the program
std::string html_trees(const Report& report);      ///< by module and by range
std::string html_copies(const Report& report);     ///< copies against their roofs
std::string html_calls(const Report& report);      ///< calls of CUDA on the host
std::string html_timeline(const Report& report);   ///< a typical step
std::string html_code(const Report& report);       ///< kernels by source line and instruction
std::string html_memory(const Report& report);     ///< GPU and host memory over the run
std::string html_flames(const Report& report);     ///< flame graphs of host and GPUs
std::string html_host(const Report& report);       ///< time of the program's threads
std::string html_recording(const Report& report);  ///< overhead and completeness

}  // namespace roofline
