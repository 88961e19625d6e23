// A configuration of a user's kernel as an implementation of its own op, or of the op given by `like`.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "op/op.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {

/// One for each configuration. Named by the parameters that differ; kernels with `like:` are prefixed with the kernel's
/// name.
std::vector<Implementation> user_implementations(const std::shared_ptr<const KernelSpec>& spec);

/// What the compiler says of the loops of a C or C++ kernel's configuration, given by its implementation's name.
std::string vectorizer_remarks(const KernelSpec& spec, std::string_view implementation,
                               const std::string& architecture);

/// The loadable file of a CPU kernel's configuration, given by its implementation's name, for an instruction set as
/// DeviceInfo::isa names it. Throws Error with the compiler's message.
std::filesystem::path compiled_for(const KernelSpec& spec, std::string_view implementation, const std::string& isa);

/// The tensors that the kernel works on for a workload: its own, or those of the op that it is like.
std::vector<TensorSpec> kernel_tensors(const KernelSpec& spec, const Workload& workload);

/// Evaluates all formulas for a workload, so that errors are found when the suite is read. Throws UsageError.
void check_bindings(const KernelSpec& spec, const Workload& workload);

}  // namespace roofline
