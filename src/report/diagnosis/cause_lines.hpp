// The lines of causes, from samples of instructions.
#pragma once

#include <string_view>
#include <vector>

#include "report/diagnosis/diagnosis.hpp"
#include "report/report.hpp"

namespace roofline {

/// Kernels whose code the user does not own: only the call can be changed.
bool is_library_kernel(std::string_view kernel);

/// A kernel of PyTorch that adds values to places given by indices, by atomic operations.
bool adds_by_index(std::string_view kernel);

/// The wait that a rule is about, of rules that are about none in particular the row's largest; null where the row was
/// not sampled or hardly waits for it.
const SampledWait* wait_behind(const Point& point, std::string_view rule);

/// Gives causes of this row their lines, in their findings too.
void add_lines(std::vector<Advice>& advice, const Point& point);

}  // namespace roofline
