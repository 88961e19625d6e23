// The calibration's kernels on registers of SVE, for AArch64 CPUs where these are wider than NEON's: Neoverse V1 loads
// a third more bytes in a cycle through them, A64FX computes four times as much. SVE is no instruction-set level: these
// kernels ask the CPU how wide its registers are, where those of a level are compiled for a width.
#pragma once

#include <cstdint>

#include "kernels/calibration/cpu/fma.hpp"

namespace roofline {

struct SveKernels {
  int bits;  ///< of a register: 256 or 512
  FmaKernels<float> fp32;
  FmaKernels<double> fp64;
  // As in stream.hpp, by plain loads and regular stores.
  std::uint64_t (*read)(const void* data, std::int64_t bytes, std::int64_t passes);
  void (*write)(void* to, std::int64_t bytes, std::int64_t passes, std::uint64_t value);
  void (*copy)(void* to, const void* from, std::int64_t bytes, std::int64_t passes);
  void (*triad)(double* to, const double* b, const double* c, double factor, std::int64_t bytes, std::int64_t passes);
};

/// Those of this CPU; null where it has no SVE, or none that is wider than NEON.
const SveKernels* sve_kernels();

}  // namespace roofline
