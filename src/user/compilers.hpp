// Finds, identifies and runs the compilers of this machine.
#pragma once

#include <string>
#include <vector>

#include "user/kernel_spec.hpp"

namespace roofline {

/// The words of $CC or $CXX: a compiler, perhaps behind a launcher.
std::vector<std::string> host_compiler(SourceKind kind);

/// The nvcc of $CUDACXX, $PATH or the usual folder; empty if there is none.
std::string nvcc_path();

/// The program's path by $PATH, as in a shell; empty if it is not found.
std::string program_file(const std::string& name);

/// A compiler's own version text, read once.
std::string version_of(const std::vector<std::string>& compiler);

/// True if C, C++ or (by nvcc) CUDA C++ can be compiled here: the compiler that compiled() would start is there.
bool has_compiler(SourceKind kind);

/// A compiler's run without a shell, with captured output; Error is thrown if it can't be started or takes too long.
struct CompilerRun {
  int status = 0;
  std::string output;  ///< stdout and stderr; of more than 192 KiB the beginning and the end
};
CompilerRun run_compiler(const std::vector<std::string>& argv, double limit_s);

}  // namespace roofline
