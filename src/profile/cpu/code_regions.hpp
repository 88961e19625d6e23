// Splits a program's code into loops and functions, with the counted instructions and samples of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/cpu/counted_instructions.hpp"
#include "sample/code_samples.hpp"

namespace roofline {

/// A loop of the source, or the code of a function outside its loops. Copies of a loop made by the compiler (vector
/// body, remainder) are one region.
struct CodeRegion {
  bool loop = false;
  std::string name;         ///< "saxpy.c:5 main, loop"; "dgemm_kernel (libopenblas.so.0)"
  std::string function;     ///< demangled, with its parameters
  std::string line;         ///< "saxpy.c:5 main"; empty: unknown
  std::string called_from;  ///< "solver.c:12 step": the program line that calls library code most; empty: unknown
  std::string library;      ///< file name if it is not the program's code: "libopenblas.so.0"
  bool own = false;         ///< the program's code
  bool counted = false;     ///< at least one of its instructions was executed in the emulated run
  CodeCounts counts;
  double entries = 0, iterations = 0;  ///< for functions: calls, and 0
};

struct CodeRegions {
  std::vector<CodeRegion> regions;
  std::vector<int> of_code;  ///< region by index of CodeSamples::code
};

/// Names come from symbols and line tables of the files on disk.
CodeRegions code_regions(const CountedInstructions& counted, const CodeSamples& samples);

}  // namespace roofline
