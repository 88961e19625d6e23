// A program's code as loops and functions: what each of them did by its counted instructions, and which sampled
// instructions are its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/cpu/counted_instructions.hpp"
#include "sample/code_samples.hpp"

namespace roofline {

/// A loop of the source, or what a function has outside its loops. Copies of a loop that a compiler made (for vectors
/// and for the rest) are one.
struct CodeRegion {
  bool loop = false;
  std::string name;         ///< "saxpy.c:5 main, loop"; "dgemm_kernel (libopenblas.so.0)"
  std::string function;     ///< demangled, with its parameters
  std::string line;         ///< "saxpy.c:5 main"; empty: not known
  std::string called_from;  ///< "solver.c:12 step": the program's line that calls library code most; empty: not known
  std::string library;      ///< its file where it is not the program's code: "libopenblas.so.0"
  bool own = false;         ///< the program's code
  bool counted = false;     ///< an instruction of it was executed in the emulated run
  CodeCounts counts;
  double entries = 0, iterations = 0;  ///< of a function its calls, and 0
};

struct CodeRegions {
  std::vector<CodeRegion> regions;
  std::vector<int> of_code;  ///< by index of CodeSamples::code: its region
};

/// Names are from the files on disk: symbols and line tables.
CodeRegions code_regions(const CountedInstructions& counted, const CodeSamples& samples);

}  // namespace roofline
