// Calibration kernels on SVE registers, for AArch64 CPUs whose SVE registers are wider than NEON's: Neoverse V1
// loads a third more bytes per cycle with them, A64FX computes four times as much. SVE is not an instruction-set
// level: these kernels query the register width at run time, while a level is compiled for one width.
#pragma once

#include <cstdint>

#include "kernels/calibration/cpu/fma.hpp"

namespace roofline {

struct SveKernels {
  int bits;  ///< of a register: 256 or 512
  FmaKernels<float> fp32;
  FmaKernels<double> fp64;
  // As in stream.hpp, with plain loads and regular stores.
  std::uint64_t (*read)(const void* data, std::int64_t bytes, std::int64_t passes);
  void (*write)(void* to, std::int64_t bytes, std::int64_t passes, std::uint64_t value);
  void (*copy)(void* to, const void* from, std::int64_t bytes, std::int64_t passes);
  void (*update)(void* data, std::int64_t bytes, std::int64_t passes, std::uint64_t stamp);
  void (*accumulate)(void* to, const void* from, std::int64_t bytes, std::int64_t passes);
  void (*triad)(double* to, const double* b, const double* c, double factor, std::int64_t bytes, std::int64_t passes);
};

/// The kernels for this CPU; null without SVE, or if it is not wider than NEON.
const SveKernels* sve_kernels();

}  // namespace roofline
