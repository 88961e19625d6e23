// Traces of torch.profiler (Kineto).
#pragma once

#include "import/byte_source.hpp"
#include "import/imported.hpp"

namespace roofline {

/// Kernels with the operators, modules and lines that launched them; FLOPs and bytes by our models of these operators.
ImportedProfile read_kineto(ByteSource& source);

}  // namespace roofline
