// The compilers of this machine: where they are, what they are, and how they are run.
#pragma once

#include <string>
#include <vector>

#include "user/kernel_spec.hpp"

namespace roofline {

/// The words of $CC or $CXX: a compiler, perhaps behind a launcher.
std::vector<std::string> host_compiler(SourceKind kind);

/// Of $CUDACXX, $PATH, or the usual folder; empty if there is none.
std::string nvcc_path();

/// Where a shell would find it; empty where it would not.
std::string program_file(const std::string& name);

/// What a compiler says of itself, asked once.
std::string version_of(const std::vector<std::string>& compiler);

/// True if C, C++ or (by nvcc) CUDA C++ can be compiled here: the compiler that compiled() would start is there.
bool has_compiler(SourceKind kind);

/// Runs a compiler without a shell, its output taken; throws Error where it can't be started or takes too long.
struct CompilerRun {
  int status = 0;
  std::string output;  ///< stdout and stderr; of more than 192 KiB the beginning and the end
};
CompilerRun run_compiler(const std::vector<std::string>& argv, double limit_s);

}  // namespace roofline
