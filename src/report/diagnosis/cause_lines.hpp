// The lines of causes, from samples of instructions.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "report/diagnosis/diagnosis.hpp"
#include "report/report.hpp"

namespace roofline {

/// True for kernels that the user did not write: only the call can be changed.
bool is_library_kernel(std::string_view kernel);

/// True for kernels that torch.compile generates (Inductor, by Triton).
bool is_inductor_kernel(std::string_view kernel);

/// True for kernels that XLA or torch.compile generates: whoever wrote the program can't change them.
bool is_generated_kernel(std::string_view kernel);

/// Tools of PyTorch and CuPy that fuse kernels.
inline constexpr std::array<std::string_view, 2> kFusingTools = {"torch.compile", "cupy.fuse"};

/// The index in kFusingTools of that of the kernel's framework. std::nullopt where its name does not tell: several
/// frameworks call cuBLAS and CUB.
std::optional<double> fusing_tool_of(const ProfiledKind& kernel);

/// True for PyTorch kernels that add values at given indices with atomic operations.
bool adds_by_index(std::string_view kernel);

/// The wait that a rule is about, or the row's largest wait for rules without one. Null if the row was not sampled or
/// hardly waits.
const SampledWait* wait_behind(const Point& point, std::string_view rule);

/// Adds source lines to the causes of a row and to their findings.
void add_lines(std::vector<Advice>& advice, const Point& point);

}  // namespace roofline
