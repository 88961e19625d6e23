// CUDA graphs of XLA (JAX's "command buffers").
#pragma once

#include <string_view>

namespace roofline::inject {

/// XLA_FLAGS let XLA put work into CUDA graphs, which is its default. The last of several flags counts.
bool allows_xla_graphs(std::string_view xla_flags);

/// XLA's plugin for CUDA is loaded in this process.
bool is_xla_loaded();

}  // namespace roofline::inject
